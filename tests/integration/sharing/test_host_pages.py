"""The daemon's count of kept host memory equals the driver's: pages of blocks."""

import time
from collections.abc import Callable

import pytest

from nvshare.lab.emulator.report import read_report
from nvshare.telemetry.snapshot import ClientStatus

from ..interposer.conftest import Guest
from .conftest import Sharing

Share = Callable[..., Sharing]
MIB = 1 << 20
BLOCK = 2 * MIB
# Longer than the time between uses that count as one (coldness in residency.c).
PAUSE = 1.2
# The unclaimed memory of the GPU. While there is some, programs that displace others push out less
# than is assumed when they get a turn. Memory that is moved out is certain to have left.
UNCLAIMED = 256 * MIB
# A third program with memory on the GPU: then nothing is displaced.
THIRD = 64 * MIB


class Program:
    """A guest, and its allocations."""

    def __init__(self, sharing: Sharing, *sizes: int) -> None:
        self._sharing = sharing
        self.guest: Guest = sharing.guest()
        self.pid = self.guest.process.pid
        assert self.guest.ask("gpu.init()") == 0
        self.pointers = [self.allocate(size) for size in sizes]

    def allocate(self, size: int) -> int:
        code, pointer = self.guest.ask(f"gpu.alloc({size})")
        assert code == 0
        return int(pointer)

    def use(self, *which: int) -> None:
        for index in which:
            assert self.guest.ask(f"gpu.touch({self.pointers[index]})") == 0
        assert self.guest.ask("gpu.sync()") == 0

    def free(self, index: int) -> None:
        assert self.guest.ask(f"gpu.free({self.pointers.pop(index)})") == 0

    def status(self) -> ClientStatus:
        clients = self._sharing.daemon().status().clients
        return next(client for client in clients if client.pid == self.pid)

    def pages(self) -> int:
        process = read_report(self._sharing.node.folder).process(self.pid)
        assert process is not None
        return process.host_bytes

    def check(self, more: int = 0) -> None:
        """Compare, when the daemon knows of the last change."""
        allowed = BLOCK * len(self.pointers)
        deadline = time.monotonic() + 10
        while not -allowed <= self.status().kept - self.pages() <= allowed + more:
            assert time.monotonic() < deadline, (self.status().kept / MIB, self.pages() / MIB)
            time.sleep(0.05)


# On a busy machine a move may stand still for more than a second. Then others go on without the
# room, and the driver pushes out memory that no program counts.
@pytest.mark.timed
@pytest.mark.parametrize("may_displace", [False, True])
def test_the_daemon_knows_the_pages_of_programs_whose_cold_part_changes(
    share: Share, may_displace: bool
) -> None:
    sharing = share("t4", speed=20, data="off")
    unclaimed = UNCLAIMED if may_displace else 0
    third = [] if may_displace else [Program(sharing, THIRD)]
    for program in third:
        program.use(0)
    sizes = [2000 * MIB, 3000 * MIB, 1500 * MIB, 2500 * MIB, 5 * MIB + 1, 700 * MIB + 4097, 4096]
    mixed, other = Program(sharing, *sizes), Program(sharing, 4000 * MIB, 4000 * MIB)
    everything = range(len(sizes))
    mixed.use(*everything)
    for hot in ([0, 1], [2, 3, 4], [1, 5, 6], [0, 1]):
        other.use(0, 1)
        mixed.check(unclaimed)
        other.check(unclaimed)
        mixed.use(*everything)
        time.sleep(PAUSE)
        mixed.use(*hot)
    # More than was ever away at one time.
    assert mixed.pages() > 5000 * MIB
    # What programs do not know yet, no new daemon can learn from them.
    mixed.check(unclaimed)
    other.check(unclaimed)
    # A new daemon learns it from the programs.
    sharing.kill_daemon()
    sharing.start_daemon()
    sharing.until_status(lambda status: len(status.clients) == 2 + len(third))
    mixed.check(unclaimed)
    other.check(unclaimed)
    # Pages are freed with the memory, and a new allocation in its place has none.
    before = mixed.pages()
    mixed.free(1)
    mixed.pointers.append(mixed.allocate(3000 * MIB))
    assert mixed.pages() < before
    mixed.check(unclaimed)


def test_what_comes_and_goes_is_always_the_same(share: Share) -> None:
    sharing = share("t4", speed=20, data="off")
    third = Program(sharing, THIRD)
    third.use(0)
    one, two = Program(sharing, 6000 * MIB, 5000 * MIB), Program(sharing, 6000 * MIB)
    one.use(0, 1)
    two.use(0)
    before = one.pages()
    assert 0 < before < 4000 * MIB
    for _ in range(6):
        one.use(0, 1)
        two.use(0)
        one.check()
    assert one.pages() == before
