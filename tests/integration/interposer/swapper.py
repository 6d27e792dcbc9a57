"""A guest with memory that moves, its connection to the daemon, and the node's report of it."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nvshare.lab.emulator.report import Account, GpuReport, read_report
from nvshare.wire.frames import (
    Grant,
    HelloFlags,
    Memory,
    Moved,
    Released,
    Revoke,
    RevokeFlags,
    Room,
    Urgency,
    Want,
)

from .scripted import Link, Scripted

if TYPE_CHECKING:
    from .conftest import Guest

MIB = 1 << 20
BLOCK = 2 * MIB
Told = TypeVar("Told", Memory, Moved, Released)


class Swapper:
    """A guest that holds turn 1, and has nothing yet."""

    def __init__(self, scripted: Scripted, guest: "Guest", environment: dict[str, str]) -> None:
        self.guest = guest
        self._folder = Path(environment["NVSHARE_EMULATOR_NODE"])
        guest.ask("gpu.start('gpu.init() or gpu.launch()')")
        self.link: Link = scripted.accept()
        if not self.link.welcome().flags & HelloFlags.WANTS:
            self.link.next(Want)
        self.turn = 1
        self.link.send(Grant(1, 0))
        assert guest.ask("gpu.done(0, 10)")
        assert guest.ask("gpu.launch()") == 0

    def truth(self) -> Account:
        """The node's report of the guest."""
        process = read_report(self._folder).process(self.guest.process.pid)
        assert process is not None
        return process.gpus[0]

    def gpu(self) -> GpuReport:
        """The node's report of the GPU."""
        return read_report(self._folder).gpus[0]

    def until(self, is_so: Callable[[Account], bool]) -> Account:
        """Poll the node until the condition holds."""
        deadline = time.monotonic() + 10
        while not is_so(account := self.truth()):
            assert time.monotonic() < deadline, account
            time.sleep(0.002)
        return account

    def told(self, kind: type[Told]) -> Told:
        """The next frame of a kind; reports of memory and requests for turns are skipped."""
        while not isinstance(frame := self.link.next(kind | Memory | Want), kind):
            continue
        return frame

    def moved(self) -> Moved:
        """All its reports of one move, up to its end."""
        moved = self.told(Moved)
        while moved.left:
            more = self.told(Moved)
            assert more.turn == moved.turn
            moved = replace(
                more,
                out_bytes=moved.out_bytes + more.out_bytes,
                in_bytes=moved.in_bytes + more.in_bytes,
                ns=moved.ns + more.ns,
            )
        return moved

    def released(self) -> tuple[Released, int]:
        """The end of its turn, and the bytes reported to have come in until then."""
        came = 0
        while not isinstance(frame := self.link.next(Released | Moved | Memory | Want), Released):
            came += frame.in_bytes if isinstance(frame, Moved) else 0
        return frame, came

    def away(self) -> int:
        """How much of its memory is away, by its next report."""
        return int(self.link.next(Memory).swapped_out)

    def allocate(self, mib: int) -> int:
        """Allocate memory."""
        code, pointer = self.guest.ask(f"gpu.alloc({mib * MIB})")
        assert code == 0
        return int(pointer)

    def touch(self, *pointers: int) -> None:
        """Have kernels use memory, and wait for them."""
        assert self.guest.ask(f"gpu.touch(*{pointers})") == 0
        assert self.guest.ask("gpu.sync()") == 0

    def grant(self, fill_bytes: int = 0, missing: int = 0) -> None:
        """Give it the next turn, perhaps before there is room for all of its memory."""
        self.turn += 1
        self.link.send(Grant(self.turn, fill_bytes, missing))

    def room(self, missing: int) -> None:
        """Tell it how much of its memory has no room by now."""
        self.link.send(Room(self.turn, missing))

    def revoke(
        self, evict_bytes: int, urgency: Urgency = Urgency.NOW, *, displace: bool = False
    ) -> None:
        """Revoke its turn."""
        flags = RevokeFlags.DISPLACE if displace else RevokeFlags(0)
        self.link.send(Revoke(self.turn, urgency, 10_000, evict_bytes, flags))

    def swap_out(self, mib: int) -> None:
        """Revoke its turn, and wait until so much has left."""
        self.revoke(mib * MIB)
        self.told(Released)
        if mib:
            assert self.moved().out_bytes == mib * MIB
