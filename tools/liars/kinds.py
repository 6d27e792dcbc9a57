"""A client that lies, as a process of its own: ``python -m tools.liars.kinds FOLDER GPU KIND``.

It behaves like a program that always wants the GPU, except for the one thing that it lies about.
It prints "begun" when it has joined, and runs until it is killed.
"""

import itertools
import os
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path

from nvshare.wire import frames
from tests.integration.daemon.client import Client

GIB = 1 << 30
MEMORY = 12 * GIB
# A daemon goes on without a client that has not given up its turn 30 s after it was told to
# (revoke_patience). A client that reconnects before that does not count as late.
PATIENCE = 30.0
ALMOST = PATIENCE - 1.0
# The longest move that a frame can report: 13 days.
LONGEST_MOVE = frames.MOST_MOVE


class Liar:
    """One connection after another, and the frames that they receive."""

    def __init__(self, folder: Path, gpu: str) -> None:
        self._folder = folder
        self._gpu = gpu
        # The highest number of a turn that it has had.
        self.turn = 0
        self.client = self._join(frames.HelloFlags.WANTS)

    def come_again(self, flags: frames.HelloFlags = frames.HelloFlags.WANTS) -> None:
        """Leave, and connect once more: wanting a turn, or claiming to have one (RESUMING)."""
        self.client.close()
        self.client = self._join(flags)

    def _join(self, flags: frames.HelloFlags) -> Client:
        client = Client(self._folder)
        client.sock.settimeout(None)
        client.join(self._gpu, allocated=MEMORY, swapped_out=MEMORY, flags=flags, turn=self.turn)
        return client

    def next(self, seconds: float | None = None) -> frames.FromDaemon | None:
        """Wait for a frame, for this many seconds; reconnect if the daemon has disconnected us."""
        client = self.client
        if seconds is not None and not client.received:
            ready, _, _ = select.select([client.sock], [], [], seconds)
            if not ready:
                return None
        frame = client.receive()
        while client.descriptors:
            os.close(client.take_descriptor())
        if frame is None:
            self.come_again()
        if isinstance(frame, frames.Grant):
            self.turn = frame.turn
        return frame

    def until_told_to_go(self) -> None:
        """Take turns as they come, until told to give one up."""
        while not self.is_told_to_go(self.next()):
            pass

    def is_told_to_go(self, frame: frames.FromDaemon | None) -> bool:
        """Whether a frame says to give up the turn: now, because the liar is never idle."""
        return (
            isinstance(frame, frames.Revoke)
            and frame.turn == self.turn
            and frame.urgency is frames.Urgency.NOW
        )

    def give_up(self, moved_bytes: int = 0, moved_ns: int = 0) -> None:
        """Give up the turn, with all memory away, and ask for the next one."""
        self.client.release(
            self.turn,
            wants=1,
            allocated=MEMORY,
            swapped_out=MEMORY,
            moved_bytes=moved_bytes,
            moved_ns=moved_ns,
        )


def none(liar: Liar) -> None:
    """Does not lie: what an honest program in its place would cost the others."""
    while True:
        liar.until_told_to_go()
        liar.give_up()


def memory(liar: Liar) -> None:
    """Claims 12 GiB that cannot leave the GPU, a byte more each time, and has none."""
    for more in itertools.count():
        liar.client.send(frames.Memory(MEMORY + more % GIB, MEMORY + more % GIB, 0, 0))
        if liar.is_told_to_go(liar.next(0.3)):
            liar.give_up()


def moves(liar: Liar) -> None:
    """Says that 17 MiB took 13 days, each time."""
    while True:
        liar.until_told_to_go()
        liar.give_up(moved_bytes=17 << 20, moved_ns=LONGEST_MOVE)


def resuming(liar: Liar) -> None:
    """Reconnects just before patience ends, and claims to hold its turn."""
    while True:
        liar.until_told_to_go()
        time.sleep(ALMOST)
        liar.come_again(frames.HelloFlags.RESUMING)


def ignoring(liar: Liar) -> None:
    """Takes its turns, and ignores revokes."""
    while True:
        liar.until_told_to_go()
        # After patience it is on the GPU beside others; it gives up in order to get the next turn.
        time.sleep(PATIENCE + 1.0)
        liar.give_up()


def reconnecting(liar: Liar) -> None:
    """Keeps its turn until patience nearly ends, and reconnects as a new client."""
    while True:
        liar.until_told_to_go()
        time.sleep(ALMOST)
        liar.come_again()


KINDS: dict[str, Callable[[Liar], None]] = {
    "none": none,
    "memory": memory,
    "moves": moves,
    "resuming": resuming,
    "ignoring": ignoring,
    "reconnecting": reconnecting,
}


def main() -> None:
    """Lie."""
    folder, gpu, kind = sys.argv[1:]
    liar = Liar(Path(folder), gpu)
    print("begun", flush=True)
    KINDS[kind](liar)


if __name__ == "__main__":
    main()
