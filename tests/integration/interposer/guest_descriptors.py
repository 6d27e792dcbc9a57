"""What programs do with descriptors that they have not opened, for guest.py."""

import os
import resource
import socket
from contextlib import suppress
from pathlib import Path


class Descriptors:
    """Sockets of this program, where other descriptors of the process were."""

    def __init__(self) -> None:
        self._others: dict[int, socket.socket] = {}

    def take_all(self) -> int:
        """Close every descriptor but the standard ones, and open a socket in place of each."""
        numbers = [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]
        numbers = [number for number in numbers if number > 2 and is_open(number)]
        pairs = [socket.socketpair() for _ in numbers]
        for number in numbers:
            os.close(number)
        for number, (own, other) in zip(numbers, pairs, strict=True):
            other.setblocking(False)
            other.send(b"?")
            os.dup2(own.fileno(), number)
            own.close()
            self._others[number] = other
        return len(numbers)

    def touched(self) -> list[int]:
        """Which of these sockets somebody has read from, written to or closed."""
        return [number for number, other in self._others.items() if is_touched(number, other)]

    def forbid(self) -> None:
        """Lower the limit of descriptors to none."""
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


def is_open(number: int) -> bool:
    """The descriptor of the folder that was listed is not."""
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def is_touched(number: int, other: socket.socket) -> bool:
    """Whether its byte is not there any more, or the other end has got one, or the end."""
    with suppress(BlockingIOError):
        return other.recv(1) is not None
    try:
        own = socket.socket(fileno=number)
    except OSError:
        return True
    waiting = own.recv(9, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    own.detach()
    return waiting != b"?"
