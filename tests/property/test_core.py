"""The invariants hold in any history that Hypothesis can generate."""

from dataclasses import replace
from itertools import chain
from math import inf

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
)

from nvshare.core.events import (
    HostMemoryChanged,
    LimitsChanged,
    OutsideChanged,
    OverLimitChanged,
    ParkChanged,
    SettingsChanged,
)
from nvshare.core.lease import State
from nvshare.core.memory import Kind, Memory
from nvshare.core.policies import HEAD_START_TURNS
from nvshare.core.replay import replay
from nvshare.core.settings import Interactive, Limits, Mode, Priority, Settings
from nvshare.core.turns.undrained import FIRST_PAUSE

from .inside import picture
from .program import Program
from .world import RECONNECT_SECONDS, World

USABLE = 16
PATIENCE = 4.0
MOST_TANGLED = 3
SLOWEST_DRAIN = 6.0  # Slower than patience: programs that are late, but answer.
BASE = Settings(
    turn_min=1.0,
    turn_max=8.0,
    batch_turn=8.0,
    slice_seconds=0.5,
    share_slice_seconds=0.5,
    revoke_patience=PATIENCE,
    initial_bandwidth=8.0,
)

policies = st.sampled_from(["fair", "fifo", "batch"])
memories = st.builds(
    Memory, allocated=st.integers(0, 20), pinned=st.integers(0, 3), swapped=st.just(0)
)
limits = st.builds(
    Limits,
    compute_percent=st.sampled_from([None, 1, 30, 80, 100]),
    priority=st.sampled_from(Priority),
)
lengths = st.sampled_from([None, 0.5, 2.0, 12.0])
interactives = st.sampled_from(Interactive)
idle_parks = st.sampled_from([None, None, 0.2, 2.0])


class Sharing(RuleBasedStateMachine):
    """Programs come, grow, rest, stop, and die; daemons restart; settings change."""

    programs: Bundle[Program] = Bundle("programs")

    @initialize(
        mode=st.sampled_from([Mode.AUTO, Mode.AUTO, Mode.SERIAL]),
        policy=policies,
        turn=lengths,
        host_limit=st.sampled_from([0, 20, 1000]),
        cgroup_limit=st.sampled_from([0, 5, 12]),
        idle_park=idle_parks,
        interactive=interactives,
    )
    def begin(
        self,
        mode: Mode,
        policy: str,
        turn: float | None,
        host_limit: int,
        cgroup_limit: int,
        idle_park: float | None,
        interactive: Interactive,
    ) -> None:
        chosen = replace(
            replace(BASE, mode=mode, policy=policy, turn_seconds=turn),
            idle_park=idle_park,
            interactive=interactive,
        )
        self.world = World(USABLE, chosen, host_limit)
        self.world.cgroups = {"small": (cgroup_limit, []), "large": (cgroup_limit + 10, [])}
        self.calm_since = self.world.now
        # How often all programs together find that they cannot give way.
        self.tangles = 0
        # The most that may be on the host. Pages from the time of an earlier daemon, or of an
        # earlier limit, are still there.
        self.most_kept: float = host_limit

    @rule(
        target=programs,
        memory=memories,
        kind=st.sampled_from([Kind.MANAGED, Kind.MANAGED, Kind.MANAGED, Kind.NATIVE]),
        drain=st.sampled_from([0.0, 0.01, 1.0, SLOWEST_DRAIN]),
        busy=st.booleans(),
        cgroup=st.sampled_from(["", "", "small", "large"]),
        is_explicit=st.booleans(),
        tangled=st.sampled_from([0, 0, 0, 1, MOST_TANGLED]),
    )
    def join(
        self,
        memory: Memory,
        kind: Kind,
        drain: float,
        busy: bool,
        cgroup: str,
        is_explicit: bool,
        tangled: int,
    ) -> Program:
        program = self.world.join(
            memory, kind, drain, cgroup, is_explicit=is_explicit, tangled=tangled
        )
        self.tangles += tangled
        if busy:
            program.work()
        return program

    @rule(program=consumes(programs))
    def die(self, program: Program) -> None:
        self.world.die(program)

    @rule(target=programs, program=consumes(programs), stopped=st.booleans())
    def stop_or_go_on(self, program: Program, stopped: bool) -> Program:
        program.stopped = stopped
        return program

    @rule(program=programs)
    def work(self, program: Program) -> None:
        if not program.stopped:
            program.work()

    @rule(program=programs)
    def rest(self, program: Program) -> None:
        if not program.stopped:
            program.rest(self.world.now)

    @rule(program=programs)
    def give_up(self, program: Program) -> None:
        """Release before the world expects it; the message does not arrive yet."""
        if not program.stopped:
            program.give_up(self.world.now)

    @rule(program=programs, memory=memories)
    def allocate(self, program: Program, memory: Memory) -> None:
        if not program.stopped:
            swapped = min(program.memory.swapped, memory.allocated)
            program.allocate(replace(memory, swapped=swapped))

    @rule(program=programs, seconds=st.sampled_from([0.0, 0.5, 3.0, 100.0]))
    def use(self, program: Program, seconds: float) -> None:
        if not program.stopped:
            program.use(seconds)

    @rule(seconds=st.sampled_from([0.5, 3.0]))
    def compute(self, seconds: float) -> None:
        """Let every program that may run compute for a while."""
        for program in self.world.programs.values():
            if program.open and not program.stopped:
                program.work()
        self.world.advance(seconds)
        for program in self.world.programs.values():
            if program.open and not program.stopped:
                program.use(seconds)

    @rule(program=programs, memory=memories)
    def ask(self, program: Program, memory: Memory) -> None:
        if not program.stopped and program.without is None:
            swapped = min(program.memory.swapped, memory.allocated)
            program.ask(replace(memory, swapped=swapped))

    @rule(program=programs, size=st.integers(1, 6))
    def ask_for_context(self, program: Program, size: int) -> None:
        if not program.stopped and program.without is None:
            memory = program.memory
            more = replace(memory, allocated=memory.allocated + size, pinned=memory.pinned + size)
            program.ask(more, for_context=True)

    @rule(program=programs, over_limit=st.sampled_from([0, 3, 30]))
    def exceed(self, program: Program, over_limit: int) -> None:
        """Put a program over its limit by some bytes, or no longer."""
        if self.world.is_known(program):
            now = self.world.now
            self.world.feed(OverLimitChanged(now=now, client=program.id, over_limit=over_limit))

    @rule(program=programs)
    def deliver(self, program: Program) -> None:
        if program.outbox:
            self.world.deliver(program)

    @rule(program=programs)
    def read(self, program: Program) -> None:
        if program.inbox and not program.stopped:
            program.read(self.world.now)

    @rule(seconds=st.sampled_from([0.0, 0.05, 0.5, 1.0, 3.0, 10.0]))
    def advance(self, seconds: float) -> None:
        self.world.advance(seconds)
        self._everybody_agrees()

    @rule(cgroup=st.sampled_from(["small", "large"]))
    def look(self, cgroup: str) -> None:
        """Tell the core how much a cgroup can take now."""
        self.world.look(cgroup)

    @rule(in_vain=st.booleans())
    def restart_daemon(self, in_vain: bool) -> None:
        self.world.restart_daemon(in_vain=in_vain)
        self.most_kept = inf

    @rule(
        mode=st.sampled_from(Mode),
        turn=lengths,
        policy=policies,
        idle_park=idle_parks,
        interactive=interactives,
    )
    def change_settings(
        self,
        mode: Mode,
        turn: float | None,
        policy: str,
        idle_park: float | None,
        interactive: Interactive,
    ) -> None:
        changed = replace(
            replace(BASE, mode=mode, turn_seconds=turn, policy=policy),
            idle_park=idle_park,
            interactive=interactive,
        )
        self.world.settings = changed
        for gpu in self.world.gpus:
            self.world.feed(SettingsChanged(now=self.world.now, device=gpu, settings=changed))
        self.calm_since = self.world.now

    @rule(size=st.sampled_from([0, 1, 4, 9, 20]))
    def change_outside(self, size: int) -> None:
        """Let a process that is no client use some of the device."""
        for gpu in self.world.gpus:
            self.world.feed(OutsideChanged(now=self.world.now, device=gpu, outside_bytes=size))
        self.calm_since = self.world.now

    @rule(program=programs, changed=limits)
    def change_limits(self, program: Program, changed: Limits) -> None:
        if self.world.is_known(program):
            event = LimitsChanged(now=self.world.now, client=program.id, limits=changed)
            self.world.feed(event)
            self.calm_since = self.world.now

    @rule(program=programs, parked=st.booleans())
    def park(self, program: Program, parked: bool) -> None:
        """Park a program by hand, or let it go on."""
        if self.world.is_known(program):
            self.world.feed(ParkChanged(now=self.world.now, client=program.id, parked=parked))
            self.calm_since = self.world.now

    @rule(limit=st.sampled_from([0, 5, 20, 1000]))
    def change_host(self, limit: int) -> None:
        self.world.host_limit = limit
        self.most_kept = max(self.most_kept, limit)
        self.world.feed(HostMemoryChanged(now=self.world.now, limit=limit))

    @invariant()
    def nobody_was_told_to_move_out_what_the_host_cannot_hold(self) -> None:
        for name, (limit, _) in self.world.cgroups.items():
            assert self.world.charged(name) <= limit, f"the kernel kills a process in {name}"
        kept = sum(program.pages for program in self.world.programs.values())
        assert kept <= self.most_kept, "more is on the host than may be"

    @invariant()
    def nobody_starves(self) -> None:
        self.world.note_who_is_held_up()
        for client in chain(*(card.waiting for card in self.world.cards)):
            # Unless the host cannot hold the clients that are in its way.
            held_up = self.world.held_up.get(client.id, 0.0)
            waited = self.world.now - max(client.since, self.calm_since, held_up)
            late = waited > self._bound()
            assert not late, f"{client.id} waits for {waited} s\n{picture(self.world.core)}"

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        self._everybody_gets_a_turn()
        assert replay(self.world.core.journal.lines()) == []

    def _is_promised_a_turn(self, program: Program) -> bool:
        """Whether a program gets a turn whatever others do."""
        del program
        return True

    def _bound(self) -> float:
        turn = self.world.settings.longest_turn + max(PATIENCE, SLOWEST_DRAIN)
        # A client that cannot give way is left alone for a pause and one more turn of the others.
        left_alone = self.tangles * (FIRST_PAUSE * 2.0**MOST_TANGLED + turn)
        # The head start of two priorities.
        ahead = 2 * HEAD_START_TURNS
        return RECONNECT_SECONDS + (self.world.joined + ahead) * turn + left_alone

    def _everybody_agrees(self) -> None:
        """Once all messages have arrived, the core's picture is the truth."""
        for program in self.world.programs.values():
            if not program.stopped:
                client = self.world.client(program)
                state = client.state
                # Others go on without it, and its gate is open again.
                goes_on = client.is_overdue and client.cannot_drain
                # A program that gives way while the daemon restarts is taken for a running one.
                assert not program.open or state is State.RUNNING or goes_on
                closes = program.draining or program.holding
                assert not closes or state in (State.YIELDING, State.RUNNING)
                assert state is not State.YIELDING or closes or goes_on or client.rests
                assert state is not State.RUNNING or program.open or closes or client.rests
                waits = program.waiting and not closes and not client.rests
                # All clients of a gang wait if one does, also after the gang has dissolved.
                assert (state is State.WAITING) == waits or (client.group and not waits)
                apart = self._has_just_begun or client.cannot_drain
                if client.is_parked_by_hand and not apart:
                    assert not program.open, "parked, and its gate is open"

    @property
    def _has_just_begun(self) -> bool:
        """Whether a daemon has just begun, and revokes no turn yet."""
        return any(self.world.now < card.reconnect_until for card in self.world.cards)

    def _everybody_gets_a_turn(self) -> None:
        self.world.deliver_all()
        for card in self.world.cards:
            for client in card.parked:
                self.world.feed(ParkChanged(now=self.world.now, client=client.id, parked=False))
        for program in self.world.programs.values():
            program.stopped = False
            program.work()
        self.world.deliver_all()
        late = {program.id for program in self.world.programs.values() if not program.open}
        # A turn may be so short that it lies between two looks.
        held = {program.id: program.held for program in self.world.programs.values()}
        begin = self.world.now
        end = self.world.now + 2 * self._bound()
        while late and self.world.now < end:
            self.world.advance(0.5)
            self._everybody_agrees()
            self.world.note_who_is_held_up()
            late -= {
                program.id
                for program in self.world.programs.values()
                if program.open or program.held > held.get(program.id, 0.0)
            }
            late -= {one for one, at in self.world.held_up.items() if at >= begin}
            late = {one for one in late if self._is_promised_a_turn(self.world.programs[one])}
        assert not late, f"{sorted(late)} never ran\n{picture(self.world.core)}"
        self._newcomers_are_answered(self.world.now + 2 * self._bound())

    def _newcomers_are_answered(self, end: float) -> None:
        cards = self.world.cards
        while any(card.has_newcomers for card in cards) and self.world.now < end:
            self.world.advance(0.5)
        assert not any(card.has_newcomers for card in cards), "a client never had an answer"


TestSharing = Sharing.TestCase
TestSharing.settings = settings(max_examples=200, stateful_step_count=50)
TestSharing = pytest.mark.timeout(400)(TestSharing)
