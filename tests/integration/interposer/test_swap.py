"""Memory that moves at a change of turn: what leaves, what returns, and what the daemon hears."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from nvshare.emulator.report import Account, read_report
from nvshare.wire.frames import (
    Evict,
    Grant,
    HelloFlags,
    Keep,
    Memory,
    Moved,
    Released,
    Revoke,
    Urgency,
    Want,
)

from .conftest import Guest
from .scripted import Link, Scripted

MIB = 1 << 20
BLOCK = 2 * MIB
Told = TypeVar("Told", Memory, Moved, Released)


class Swapper:
    """A guest with memory, the daemon's end of its connection, and what the node knows of it."""

    def __init__(self, link: Link, guest: Guest, folder: Path) -> None:
        self.link = link
        self.guest = guest
        self._folder = folder
        self.turn = 1

    def truth(self) -> Account:
        process = read_report(self._folder).process(self.guest.process.pid)
        assert process is not None
        return process.gpus[0]

    def until(self, is_so: Callable[[Account], bool]) -> Account:
        deadline = time.monotonic() + 10
        while not is_so(account := self.truth()):
            assert time.monotonic() < deadline, account
            time.sleep(0.005)
        return account

    def told(self, kind: type[Told]) -> Told:
        """The next frame of a kind; reports of memory and wishes on the way do not count."""
        while not isinstance(frame := self.link.next(kind | Memory | Want), kind):
            continue
        return frame

    def allocate(self, mib: int) -> int:
        code, pointer = self.guest.ask(f"gpu.alloc({mib * MIB})")
        assert code == 0
        return int(pointer)

    def touch(self, *pointers: int) -> None:
        """Have kernels use memory, and wait for them."""
        for pointer in pointers:
            assert self.guest.ask(f"gpu.touch({pointer})") == 0
        assert self.guest.ask("gpu.sync()") == 0

    def grant(self, fill_bytes: int = 0) -> None:
        self.turn += 1
        self.link.send(Grant(self.turn, fill_bytes))

    def revoke(self, evict_bytes: int, urgency: Urgency = Urgency.NOW) -> None:
        self.link.send(Revoke(self.turn, urgency, 10_000, evict_bytes))


@pytest.fixture
def swapper(scripted: Scripted, guest: Guest, environment: dict[str, str]) -> Swapper:
    """A guest that holds a turn, and has nothing yet."""
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    if not link.welcome().flags & HelloFlags.WANTS:
        link.next(Want)
    link.send(Grant(1, 0))
    assert guest.ask("gpu.done(0, 10)")
    assert guest.ask("gpu.launch()") == 0
    return Swapper(link, guest, Path(environment["NVSHARE_EMULATOR_NODE"]))


@pytest.mark.parametrize("evicted", [1, 64 * MIB, 65 * MIB])
def test_exactly_what_is_to_leave_leaves_and_comes_back(swapper: Swapper, evicted: int) -> None:
    """Rounded up to a block."""
    expected = -(-evicted // BLOCK) * BLOCK
    pointers = [swapper.allocate(48) for _ in range(3)]
    swapper.touch(*pointers)
    assert swapper.truth().resident_bytes == 144 * MIB
    swapper.revoke(evicted)
    released = swapper.told(Released)
    assert released.swapped_out in (evicted, expected)
    moved = swapper.told(Moved)
    assert (moved.out_bytes, moved.in_bytes, moved.swapped_out) == (expected, 0, expected)
    account = swapper.truth()
    assert account.resident_bytes == 144 * MIB - expected
    assert account.out_bytes == expected
    swapper.grant()
    moved = swapper.told(Moved)
    assert (moved.in_bytes, moved.swapped_out, moved.turn) == (expected, 0, 2)
    assert swapper.truth().resident_bytes == 144 * MIB
    before = swapper.truth().fault_ns
    swapper.touch(*pointers)
    assert swapper.truth().fault_ns == before


def test_the_gate_opens_when_the_memory_is_there(swapper: Swapper) -> None:
    pointer = swapper.allocate(128)
    swapper.touch(pointer)
    swapper.revoke(128 * MIB)
    swapper.told(Released)
    assert swapper.told(Moved).swapped_out == 128 * MIB
    swapper.guest.ask(f"gpu.start('gpu.touch({pointer})')")
    swapper.grant()
    assert swapper.guest.ask("gpu.done(1, 10)")
    assert swapper.guest.ask("gpu.sync()") == 0
    account = swapper.truth()
    assert (account.in_bytes, account.resident_bytes) == (128 * MIB, 128 * MIB)


def test_an_idle_client_that_gives_way_moves_out_too(swapper: Swapper) -> None:
    swapper.touch(swapper.allocate(64))
    swapper.revoke(32 * MIB, Urgency.WHEN_IDLE)
    assert swapper.told(Released).swapped_out == 32 * MIB
    assert swapper.told(Moved).out_bytes == 32 * MIB


def test_keep_voids_what_was_to_leave(swapper: Swapper) -> None:
    swapper.touch(swapper.allocate(64))
    swapper.revoke(32 * MIB, Urgency.WHEN_IDLE)
    swapper.link.send(Keep(swapper.turn))
    time.sleep(0.1)
    swapper.revoke(0)
    assert swapper.told(Released).swapped_out == 0
    assert swapper.truth().resident_bytes == 64 * MIB


def test_memory_allocated_without_a_turn_is_away_and_costs_nothing(swapper: Swapper) -> None:
    swapper.revoke(0)
    swapper.told(Released)
    pointer = swapper.allocate(64)
    memory = swapper.told(Memory)
    assert (memory.allocated, memory.swapped_out) == (64 * MIB, 64 * MIB)
    swapper.grant()
    moved = swapper.told(Moved)
    assert (moved.in_bytes, moved.swapped_out) == (0, 0)
    assert swapper.truth().resident_bytes == 64 * MIB
    swapper.touch(pointer)
    assert swapper.truth().in_bytes == swapper.truth().fault_ns == 0


def test_evict_is_for_those_without_a_turn(swapper: Swapper) -> None:
    swapper.touch(swapper.allocate(64))
    swapper.link.send(Evict(32 * MIB))
    moved = swapper.told(Moved)
    assert (moved.out_bytes, moved.swapped_out) == (0, 0)
    swapper.revoke(0)
    swapper.told(Released)
    swapper.link.send(Evict(32 * MIB))
    moved = swapper.told(Moved)
    assert (moved.turn, moved.out_bytes, moved.swapped_out) == (1, 32 * MIB, 32 * MIB)
    swapper.link.send(Evict(1000 * MIB))
    assert swapper.told(Moved).swapped_out == 64 * MIB
    swapper.link.send(Evict(1000 * MIB))
    assert swapper.told(Moved).out_bytes == 0
    assert swapper.truth().resident_bytes == 0
