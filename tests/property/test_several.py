"""Any history of programs on several GPUs that share a host, which may be short. Without gangs."""

from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from nvshare.core.memory import Memory
from nvshare.core.settings import Interactive, Mode

from .program import Program
from .test_core import BASE, SLOWEST_DRAIN, USABLE, Sharing, interactives, lengths, memories
from .world import GPU, World

GPUS = (GPU, "gpu1")


class Several(Sharing):
    """All that happens in test_core.py, on two GPUs."""

    @initialize(
        mode=st.sampled_from([Mode.AUTO, Mode.AUTO, Mode.SERIAL]),
        turn=lengths,
        host_limit=st.sampled_from([8, 12, 20]),
        interactive=interactives,
    )
    def begin(
        self, mode: Mode, turn: float | None, host_limit: int, interactive: Interactive
    ) -> None:
        chosen = replace(BASE, mode=mode, turn_seconds=turn, interactive=interactive)
        self.world = World(USABLE, chosen, host_limit, GPUS)
        self.world.cgroups = {"small": (5, []), "large": (15, [])}
        self.calm_since = self.world.now
        self.tangles = 0
        self.most_kept = host_limit

    @rule(
        target=Sharing.programs,
        memory=memories,
        drain=st.sampled_from([0.0, 0.01, SLOWEST_DRAIN]),
        cgroup=st.sampled_from(["", "", "small", "large"]),
    )
    def join_elsewhere(self, memory: Memory, drain: float, cgroup: str) -> Program:
        """Have a program begin on the other GPU."""
        program = self.world.join(memory, drain=drain, cgroup=cgroup, gpu=GPUS[1])
        program.work()
        return program


TestSeveral = Several.TestCase
TestSeveral.settings = settings(max_examples=40, stateful_step_count=40)
TestSeveral = pytest.mark.timeout(400)(TestSeveral)
