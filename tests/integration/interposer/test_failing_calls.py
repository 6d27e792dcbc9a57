"""Calls of the driver fail, one after the other, while memory moves explicitly out and in.

One program runs again and again, and each time another call fails. All positions take too long for
every day, so by default one in STRIDE is tried. NVSHARE_EVERY_POSITION=1 tries all.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.fault import steal_memory
from nvshare.lab.emulator.report import read_report
from nvshare.wire.frames import Memory

from .conftest import preloaded
from .lodging import left_by, lodging
from .scripted import Scripted

ROUNDS = 2
STRIDE = 1 if os.environ.get("NVSHARE_EVERY_POSITION") else 13
# The first position, so that not all begin at the same place; and the error.
CALLS = {
    "create": (1, 2),
    "map": (8, 2),
    "access": (3, 999),
    "unmap": (5, 999),
    "release": (2, 2),
    "reserve": (4, 2),
    "unreserve": (6, 2),
    "register": (2, 2),
}
# For all memory of the program, and one extent that was begun.
MOST_EXTENTS = 5
NOTHING = {
    "handles": 0,
    "mappings": 0,
    "reservations": 0,
    "host_allocations": 0,
}


@pytest.fixture
def node(make_node: Callable[..., Node]) -> Node:
    return make_node("tiny", speed=20)


@pytest.fixture
def environment(node: Node, tmp_path: Path) -> dict[str, str]:
    return preloaded(node, tmp_path / "daemon")


Play = Callable[[str], int]


@pytest.fixture
def play(
    lodger: Path, node: Node, environment: dict[str, str], scripted: Scripted, tmp_path: Path
) -> Play:
    """Run the program with a fault. Returns how often the fault has happened."""
    leaks = tmp_path / "leaks"

    def play(fault: str) -> int:
        variables = {"NVSHARE_EMULATOR_FAIL": fault, "NVSHARE_EMULATOR_LEAKS": str(leaks)}
        with lodging(lodger, scripted, environment | variables) as one:
            for _ in range(ROUNDS):
                one.move_out()
                one.look()
            one.end()
        left = left_by(one, leaks)
        happened = left.pop("injected")
        # Host memory is given back a little later than its contents, or ends with the program.
        assert left.pop("registrations") <= MOST_EXTENTS
        assert left == NOTHING
        assert read_report(node.folder).difference is None
        return happened

    return play


def positions(first: int) -> Iterator[int]:
    number = 1 + (first - 1) % STRIDE
    while True:
        yield number
        number += STRIDE


@pytest.mark.parametrize("call", CALLS)
def test_whichever_call_fails_nothing_is_lost(play: Play, call: str) -> None:
    first, error = CALLS[call]
    happened = 0
    for number in positions(first):
        try:
            before, happened = happened, happened + play(f"{call}@{number}={error}")
        except AssertionError as wrong:
            raise AssertionError(f"{call} number {number} failed") from wrong
        if happened == before:
            break
    assert happened


@pytest.mark.parametrize("call", ["unmap", "release"])
@pytest.mark.parametrize("first", range(1, 10, 1 if STRIDE == 1 else 3))
def test_what_cannot_be_taken_away_stays(
    lodger: Path, environment: dict[str, str], scripted: Scripted, call: str, first: int
) -> None:
    """From some call on all fail: also for memory that is mapped twice, once it is half gone."""
    faults = {"NVSHARE_EMULATOR_FAIL": f"{call}+{first}=1"}
    with lodging(lodger, scripted, environment | faults, "mapped") as one:
        for _ in range(ROUNDS):
            moved = one.move_out()
            one.look()
        assert moved.swapped_out < moved.allocated


@pytest.mark.parametrize("release", range(1, 8, 1 if STRIDE == 1 else 4))
def test_memory_that_another_takes_is_waited_for(
    lodger: Path,
    node: Node,
    environment: dict[str, str],
    scripted: Scripted,
    tmp_path: Path,
    release: int,
) -> None:
    log = tmp_path / "log"
    theft = {"NVSHARE_EMULATOR_STEAL": f"release@{release}"}
    logging = {"NVSHARE_LOG": "info", "NVSHARE_LOG_FILE": str(log)}
    with lodging(lodger, scripted, environment | theft | logging) as one:
        steal_memory(node, 0, 1 << 50)  # so that every byte counts
        moved = one.move_out()
        assert moved.swapped_out == moved.allocated
        one.ask()
        one.grant()
        until(lambda: "there is no room for this program's memory yet" in log.read_text())
        # All or nothing: it does not keep a part, and says so.
        until(lambda: held(node, one.process.pid) == 0)
        one.link.drop()
        assert one.link.next(Memory).swapped_out == moved.allocated
        steal_memory(node, 0, 0)
        one.says("right")
        one.end()


def held(node: Node, pid: int) -> int:
    process = read_report(node.folder).process(pid)
    assert process is not None
    return process.gpus[0].plain_bytes


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.002)
