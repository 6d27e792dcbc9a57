"""Any script: the number of looks changes nothing, and nothing is lost or gained.

The first test uses rates that are exact in floating point, so that results must be the same to the
nanosecond. The second uses the rates of a T4 as they are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .play import BLOCK, GB, HOST, MIB, NOWHERE, Play, Process, Queue, Range, on_gpu

PROCESSES = 2
BLOCKS = 12
# Long enough for the worst: every operation pages everything, one after the other.
END = 10**13

# GPU and context of each queue of a process.
QUEUES = [(0, 1), (0, 2), (1, 1)]

EXACT = {
    "slice_ns": 100_000,
    "switch_ns": 12_345,
    "bandwidth": 256 * GB,
    "h2d_bandwidth": 60 * GB,
    "d2h_bandwidth": 60 * GB,
    "duplex_permille": 1000,
    "fault_bandwidth": GB,
    "fault_evict_bandwidth": 2 * GB,
    "populate_bandwidth": 4 * GB,
}
# Less than the processes can use, so that they evict each other.
SMALL = {"usable_bytes": 40 * MIB, "context_bytes": 0}


@dataclass
class Program:
    """A running process, with its queues and its memory."""

    process: Process
    queues: list[Queue] = field(default_factory=list)
    plain_bytes: int = 0

    def __post_init__(self) -> None:
        self.queues = [self.process.queue(gpu, context) for gpu, context in QUEUES]
        self.memory: Range = self.process.range(BLOCKS)


@dataclass(frozen=True)
class Kernel:
    queue: int
    ns: int

    def do(self, program: Program) -> None:
        program.queues[self.queue].kernel(self.ns)


@dataclass(frozen=True)
class Copy:
    queue: int
    size: int
    into: bool

    def do(self, program: Program) -> None:
        queue = program.queues[self.queue]
        (queue.copy_in if self.into else queue.copy_out)(self.size)


# Managed memory is used on the first GPU only: GPUs are computed one after the other, so the effect
# of one on the memory of another, without a wait between them, has no order in time.
@dataclass(frozen=True)
class Touch:
    queue: int
    first: int
    blocks: int

    def do(self, program: Program) -> None:
        part = (program.memory, self.first, min(self.blocks, BLOCKS - self.first))
        program.queues[self.queue % 2].touch(part)


@dataclass(frozen=True)
class Prefetch:
    queue: int
    first: int
    to: int

    def do(self, program: Program) -> None:
        part = (program.memory, self.first, BLOCKS - self.first)
        program.queues[self.queue % 2].prefetch(part, to=self.to)


@dataclass(frozen=True)
class Wait:
    """A wait for the operations that the other queue has so far, so that no cycle can form."""

    queue: int
    other: int

    def do(self, program: Program) -> None:
        other = program.queues[self.other]
        program.queues[self.queue].wait(other, other.marker())


@dataclass(frozen=True)
class Advice:
    preferred: int
    accessed_by: int

    def do(self, program: Program) -> None:
        program.memory.advise(self.preferred, self.accessed_by)


@dataclass(frozen=True)
class Plain:
    size: int

    def do(self, program: Program) -> None:
        if self.size < 0:
            program.process.free_plain(program.plain_bytes)
            program.plain_bytes = 0
        elif program.process.plain(self.size) >= 0:
            program.plain_bytes += self.size


@dataclass(frozen=True)
class Free:
    def do(self, program: Program) -> None:
        program.memory.free()
        program.memory = program.process.range(BLOCKS, at=0)


@dataclass(frozen=True)
class Death:
    """The end of a process. Another one takes its place."""

    def do(self, program: Program) -> None:
        program.process.kill()
        program.process = program.process.play.process()
        program.plain_bytes = 0
        program.__post_init__()


@dataclass(frozen=True)
class Pause:
    ns: int


Action: TypeAlias = Kernel | Copy | Touch | Prefetch | Wait | Advice | Plain | Free | Death | Pause
Script: TypeAlias = Sequence[tuple[int, Action]]


def up_to(most: int) -> st.SearchStrategy[int]:
    """Return amounts up to a size. Hypothesis prefers small numbers, and nothing would overlap."""
    return st.integers(0, 100).map(lambda hundredths: most * hundredths // 100)


queues = st.integers(0, len(QUEUES) - 1)
blocks = st.integers(0, BLOCKS - 1)
# Kernels and copies of a few slices, pauses of a part of one: much overlaps.
pauses = st.builds(Pause, up_to(200_003))
kernels = st.builds(Kernel, queues, up_to(1_000_003))
copies = st.builds(Copy, queues, up_to(20_000_003), st.booleans())
waits = st.builds(Wait, queues, queues)
paging: st.SearchStrategy[Action] = st.one_of(
    st.builds(Touch, queues, blocks, st.integers(1, BLOCKS)),
    st.builds(Prefetch, queues, blocks, st.sampled_from([HOST, on_gpu(0)])),
)
rare: st.SearchStrategy[Action] = st.one_of(
    st.builds(Advice, st.sampled_from([NOWHERE, HOST, on_gpu(0)]), st.integers(0, 1)),
    st.builds(Plain, st.integers(-1, 15).map(lambda n: n * BLOCK)),
    st.builds(Free),
    st.builds(Death),
)
# Each kind is as frequent as it is in this list.
kinds: list[st.SearchStrategy[Any]] = [pauses] * 3 + [kernels] * 3 + [copies, paging, rare]
actions: st.SearchStrategy[Action] = st.sampled_from([*kinds, waits, waits]).flatmap(lambda k: k)
scripts = st.lists(st.tuples(st.integers(0, PROCESSES - 1), actions), min_size=20, max_size=60)
looks = st.lists(up_to(100_003), min_size=20, max_size=60)


@dataclass
class Outcome:
    """All that can be seen of a script at its end."""

    spans: list[list[tuple[int, int]]]
    report: Any
    deaths: int

    def switches(self, gpu: int) -> int:
        """Switches that were carried out; a death can make one needless half-way."""
        return max(0, int(self.report["gpus"][gpu]["switches"]) - self.deaths)


def advance(play: Play, end: int, instants: Sequence[int]) -> None:
    for instant in instants:
        if play.now < instant < end:
            play.advance_to(instant)
    play.advance_to(end)


def perform(play: Play, script: Script, looks: Sequence[int]) -> Outcome:
    """Run the script, and look at other times besides."""
    instants = list(accumulate(looks))
    programs = [Program(play.process()) for _ in range(PROCESSES)]
    for number, action in script:
        if isinstance(action, Pause):
            advance(play, play.now + action.ns, instants)
            assert play.difference() is None
        else:
            action.do(programs[number])
    advance(play, END, instants)
    spans = [queue.spans() for program in programs for queue in program.queues]
    deaths = sum(isinstance(action, Death) for _, action in script)
    return Outcome(spans, play.report(), deaths)


def check(play: Play, outcome: Outcome, switch_ns: int) -> None:
    """Check the rules that hold for any script."""
    assert play.difference() is None
    report = outcome.report
    assert report["waits_across"] == 0
    for process in report["processes"].values():
        assert not any(process["pending"])
    for spans in outcome.spans:
        ends = [end for _, end in spans]
        assert ends == sorted(ends)
    for index, gpu in enumerate(report["gpus"]):
        assert gpu["clock"] == END
        assert gpu["active"] == 0
        computed = sum(p["accounts"][index]["compute_ns"] for p in report["processes"].values())
        assert computed + outcome.switches(index) * switch_ns <= gpu["busy_total_ns"] <= END
        held = gpu["plain_bytes"] + gpu["context_bytes"] + (gpu["chunks"] + gpu["surplus"]) * BLOCK
        assert gpu["resident_blocks"] <= gpu["chunks"]
        assert held <= SMALL["usable_bytes"]
        assert held + gpu["free_bytes"] == SMALL["usable_bytes"]


any_script = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def test_looking_changes_nothing(begin: Callable[..., Play]) -> None:
    @any_script
    @given(scripts, looks)
    def compare(script: Script, looks: Sequence[int]) -> None:
        undisturbed = perform(begin("2xt4", **EXACT, **SMALL), script, [])
        play = begin("2xt4", **EXACT, **SMALL)
        assert perform(play, script, looks) == undisturbed
        check(play, undisturbed, EXACT["switch_ns"])

    compare()


def test_nothing_is_lost_with_the_rates_of_a_t4(begin: Callable[..., Play]) -> None:
    @any_script
    @given(scripts, looks)
    def examine(script: Script, looks: Sequence[int]) -> None:
        play = begin("2xt4", **SMALL)
        check(play, perform(play, script, looks), 214_000)

    examine()


@pytest.mark.parametrize("step", [1_000_003, 77_777, 9_999])
def test_looking_hardly_changes_anything_on_a_t4(begin: Callable[..., Play], step: int) -> None:
    def run(step: int) -> list[int]:
        play = begin("t4")
        programs = [play.process() for _ in range(3)]
        queues = []
        for program in programs:
            memory = program.range(40).place(HOST)
            queues += [program.queue(), program.queue(), program.queue()]
            queues[-3].touch(memory)
            queues[-2].copy_in(50_000_001)
            queues[-1].copy_out(33_333_333)
        advance(play, 10**9, range(step, 3 * 10**8, step))
        return [queue.finished()[0] for queue in queues]

    # 40 stretches in a row, each of which may end a nanosecond later.
    assert run(step) == pytest.approx(run(10**9), abs=40)
