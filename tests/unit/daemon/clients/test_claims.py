"""How far clients' claims about their memory are believed. The test supplies NVML's table."""

import asyncio

import pytest

from nvshare.core.memory import Memory
from nvshare.daemon.clients import session as session_module
from nvshare.daemon.tenants.identity import Identity
from nvshare.daemon.usage.footprint import Footprint
from nvshare.wire import frames

from ..stage import GIB, GPU, Stage

HONEST, LIAR = 1, 2
NATIVE = frames.AllocationKind.NATIVE


@pytest.fixture
def apart(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A stage on which every client is a process of its own: 1, 2, …, as its number."""
    pids = iter(range(1, 100))

    def identify(*_: object) -> Identity:
        return Identity(pid := next(pids), 0, 0, "train.py", "", f"{pid:064}")

    monkeypatch.setattr(session_module, "identify", identify)
    return stage


def look(stage: Stage, found: dict[int, int]) -> None:
    stage.node.footprint = Footprint(stage.node.parts, lambda _: found)
    asyncio.run(stage.node.footprint.look())


def memory(stage: Stage, client: int) -> Memory:
    return stage.node.core.client_view(client).memory


def say(stage: Stage, client: int, allocated: int, pinned: int = 0) -> None:
    stage.clients[client - 1].send(frames.Memory(allocated, pinned, 0, 0).pack())
    stage.turn()


def test_nobody_has_more_than_the_gpu(apart: Stage) -> None:
    apart.join(GIB)
    say(apart, 1, 1 << 50)
    assert memory(apart, 1).own == GPU.memory
    # The parts of its claim are made consistent.
    say(apart, 1, 1 << 50, pinned=1 << 51)
    assert memory(apart, 1).pinned <= memory(apart, 1).allocated == GPU.memory + context(apart, 1)


def context(stage: Stage, client: int) -> int:
    return memory(stage, client).context


def test_unless_it_may_be_larger(apart: Stage) -> None:
    apart.join(20 * GIB, flags=frames.HelloFlags.MAY_BE_LARGER)
    assert memory(apart, 1).own == 20 * GIB


def test_nobody_grows_beyond_its_limit(apart: Stage) -> None:
    apart.join(4 * GIB)
    apart.limit(memory_limit=2 * GIB)
    # The limit was lowered: it keeps its memory.
    say(apart, 1, 4 * GIB)
    assert memory(apart, 1).own == 4 * GIB
    say(apart, 1, 5 * GIB)
    assert memory(apart, 1).own == 4 * GIB
    say(apart, 1, GIB)
    say(apart, 1, 5 * GIB)
    assert memory(apart, 1).own == 2 * GIB


def test_who_claims_what_the_gpu_does_not_know_of_counts_as_if_it_had_none(
    apart: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    apart.join(2 * GIB, kind=NATIVE)
    apart.join(12 * GIB, pinned=12 * GIB)
    found = {HONEST: 2 * GIB + 300_000_000}
    look(apart, found)
    assert memory(apart, LIAR).own == 12 * GIB
    look(apart, found)
    assert memory(apart, LIAR).own == 0
    assert memory(apart, HONEST).own == 2 * GIB
    # Whatever it claims next; that is logged once.
    say(apart, LIAR, 13 * GIB, 13 * GIB)
    look(apart, found)
    look(apart, found)
    assert memory(apart, LIAR).own == 0
    assert caplog.text.count("claims memory that NVML does not show") == 1
    # Until its claim is true.
    look(apart, {**found, LIAR: 13 * GIB})
    assert memory(apart, LIAR).own == 13 * GIB


@pytest.mark.parametrize("step", [1, -1, GIB, -GIB])
def test_to_claim_something_else_each_time_does_not_help(apart: Stage, step: int) -> None:
    apart.join(2 * GIB, kind=NATIVE)
    apart.join(12 * GIB, pinned=12 * GIB)
    found = {HONEST: 2 * GIB}
    look(apart, found)
    size = 12 * GIB + step
    say(apart, LIAR, size, size)
    assert memory(apart, LIAR).own == size
    look(apart, found)
    assert memory(apart, LIAR).own == 0


def test_memory_that_is_told_of_before_it_is_there_is_believed(apart: Stage) -> None:
    apart.join(GIB, kind=NATIVE)
    apart.join(GIB, pinned=GIB)
    for size in (2, 3, 4):
        say(apart, LIAR, size * GIB, size * GIB)
        look(apart, {HONEST: 2 * GIB, LIAR: (size - 1) * GIB})
        assert memory(apart, LIAR).own == size * GIB


def test_managed_memory_is_in_no_figure(apart: Stage) -> None:
    apart.join(GIB, kind=NATIVE)
    apart.join(12 * GIB)
    for _ in range(3):
        look(apart, {HONEST: GIB, LIAR: 300_000_000})
    assert memory(apart, LIAR).own == 12 * GIB


def test_where_nvml_sees_nobody_it_says_nothing(apart: Stage) -> None:
    apart.join(2 * GIB, kind=NATIVE)
    for _ in range(3):
        look(apart, {4711: 5 * GIB})
    assert memory(apart, 1).own == 2 * GIB
