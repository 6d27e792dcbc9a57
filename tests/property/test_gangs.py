"""Any history with gangs: programs whose ranks wait for each other on several GPUs.

All that happens in test_core.py happens here as well, to single programs and to ranks.
"""

from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import MultipleResults, initialize, invariant, multiple, rule

from nvshare.core.events import (
    LimitsChanged,
    ParkChanged,
    SettingsChanged,
)
from nvshare.core.lease import State
from nvshare.core.memory import Memory
from nvshare.core.settings import Interactive, Limits, Mode

from .collective import Collective
from .inside import Known
from .program import Program
from .test_core import BASE, SLOWEST_DRAIN, USABLE, Sharing, interactives, lengths, limits, policies
from .world import GPU, World

GPUS = (GPU, "gpu1", "gpu2")

AMPLE = 1_000_000

sizes = st.integers(0, 14)
places = st.sets(st.sampled_from(GPUS), min_size=2).map(sorted)


class Gangs(Sharing):
    """Single programs and gangs, on three GPUs. The host has room for everything at first."""

    @initialize(
        mode=st.sampled_from([Mode.AUTO, Mode.AUTO, Mode.SERIAL]),
        policy=policies,
        turn=lengths,
        interactive=interactives,
    )
    def begin(self, mode: Mode, policy: str, turn: float | None, interactive: Interactive) -> None:
        chosen = replace(BASE, mode=mode, policy=policy, turn_seconds=turn, interactive=interactive)
        self.world = World(USABLE, chosen, AMPLE, GPUS)
        self.world.cgroups = {"small": (AMPLE, []), "large": (AMPLE, [])}
        self.calm_since = self.world.now
        self.tangles = 0
        self.most_kept = AMPLE

    @rule(
        target=Sharing.programs,
        gpus=places,
        size=sizes,
        more=st.sampled_from([0, 0, 0, 3]),
        distance=st.integers(1, 3),
        stagger=st.integers(0, 3),
        drain=st.sampled_from([0.0, 0.001, 0.01, 1.0]),
        busy=st.booleans(),
    )
    def join_gang(
        self,
        gpus: list[str],
        size: int,
        more: int,
        distance: int,
        stagger: int,
        drain: float,
        busy: bool,
    ) -> MultipleResults[Program]:
        """Have ranks begin, one on each GPU, or two on the first."""
        group = f"gang {self.world.joined}"
        self.world.collectives[group] = Collective(distance, stagger)
        ranks = [
            self.world.join(Memory(size + more * index), drain=drain, gpu=gpu, group=group)
            for index, gpu in enumerate([*gpus, *gpus[:1]] if more else gpus)
        ]
        for program in ranks:
            if busy:
                program.work()
        return multiple(*ranks)

    @rule(
        target=Sharing.programs,
        gpu=st.sampled_from(GPUS[1:]),
        size=sizes,
        drain=st.sampled_from([0.0, 0.01, SLOWEST_DRAIN]),
    )
    def join_elsewhere(self, gpu: str, size: int, drain: float) -> Program:
        """Have a program of one process begin on a GPU where gangs are."""
        program = self.world.join(Memory(size), drain=drain, gpu=gpu)
        program.work()
        return program

    @rule(program=Sharing.programs, gpu=st.sampled_from(GPUS), size=sizes)
    def join_late(self, program: Program, gpu: str, size: int) -> None:
        """Add a rank to a running program."""
        if program.collective is not None and program.collective.calls:
            self.world.join(Memory(size), gpu=gpu, group=program.group).work()

    @rule(on=st.booleans(), gpu=st.sampled_from(GPUS))
    def switch(self, on: bool, gpu: str) -> None:
        changed = replace(self.world.settings, gangs=on)
        self.world.feed(SettingsChanged(now=self.world.now, device=gpu, settings=changed))
        self.calm_since = self.world.now

    @rule(program=Sharing.programs, changed=limits)
    def change_limits_of_all(self, program: Program, changed: Limits) -> None:
        """Park or release all clients of a group, as a person does."""
        for rank in self._ranks(program):
            self.world.feed(LimitsChanged(now=self.world.now, client=rank.id, limits=changed))
        self.calm_since = self.world.now

    @rule(program=Sharing.programs, parked=st.booleans())
    def park_all(self, program: Program, parked: bool) -> None:
        for rank in self._ranks(program):
            self.world.feed(ParkChanged(now=self.world.now, client=rank.id, parked=parked))
        self.calm_since = self.world.now

    def _ranks(self, program: Program) -> list[Program]:
        programs = self.world.programs.values()
        ranks = [
            one for one in programs if one is program or (one.group and one.group == program.group)
        ]
        return [one for one in ranks if self.world.is_known(one)]

    @invariant()
    def no_two_gangs_hold_a_part_of_each_others_devices(self) -> None:
        """A gang runs on all its devices or on none. A revoked one holds up none for ever."""
        halves: dict[int, set[bool]] = {}
        for card in self.world.cards:
            for client in card.clients:
                if client.gang is not None and not self._is_apart(client):
                    halves.setdefault(client.gang, set()).add(client.holds)
        waits = [client for card in self.world.cards for client in card.waiting]
        for gang, states in halves.items():
            if len(states) == 2:
                assert not any(
                    client.gang == gang and self._runs_beside(client) for client in waits
                ), f"gang {gang} runs in part"

    def _runs_beside(self, client: Known) -> bool:
        """Whether others of its gang run while a client waits."""
        clients = (one for card in self.world.cards for one in card.clients)
        mates = [one for one in clients if one.gang == client.gang and not self._is_apart(one)]
        yields = any(one.state is State.YIELDING for one in mates)
        return not yields and any(one.state is State.RUNNING for one in mates)

    def _is_apart(self, client: Known) -> bool:
        return client.is_overdue or client.is_undrained or self._has_just_begun

    def _is_promised_a_turn(self, program: Program) -> bool:
        """Ranks without a gang may keep each other from ever giving up a turn."""
        group = [one for one in self.world.programs.values() if one.group == program.group]
        return not program.group or all(self.world.client(one).gang is not None for one in group)

    def _bound(self) -> float:
        # Each rank may be the last that a gang waits for, on each of its devices.
        return len(GPUS) * super()._bound()


TestGangs = Gangs.TestCase
TestGangs.settings = settings(max_examples=80, stateful_step_count=50)
TestGangs = pytest.mark.timeout(400)(TestGangs)
