"""Many clients of a daemon without programs: connections that send what an interposer would.

For measurements of the daemon: a hundred real programs would need more processors than a machine
has, and would distort the measurement. The clients read messages, but do not obey them.
"""

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from nvshare.daemon.gpus.survey import uuid_bytes
from nvshare.wire import frames
from nvshare.wire.places import SOCKET_NAME

_MEMORY = 64 << 20
_READ = 1 << 16


class Crowd:
    """Clients that compute all the time, each with limits of its own."""

    def __init__(self, folder: Path, uuid: str, count: int) -> None:
        self._clients = [_connect(folder, uuid) for _ in range(count)]
        self._told = frames.Usage(0, 0, 0, 0)

    def report(self, seconds: float) -> None:
        """Have each client report its work of the last seconds, and read its messages."""
        told = self._told
        busy = told.busy_ns + round(seconds * 1e9)
        self._told = frames.Usage(busy, told.launches + 1000, told.throttled_ns, told.gpu_ns)
        for client in self._clients:
            with contextlib.suppress(BlockingIOError):
                client.recv(_READ)
            client.send(self._told.pack())

    def close(self) -> None:
        """Disconnect all clients."""
        for client in self._clients:
            client.close()


@contextlib.contextmanager
def crowd(folder: Path, uuid: str, count: int) -> Iterator[Crowd]:
    """Yield a crowd on a GPU of a daemon."""
    found = Crowd(folder, uuid, count)
    try:
        yield found
    finally:
        found.close()


def _connect(folder: Path, uuid: str) -> socket.socket:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.connect(str(folder / SOCKET_NAME))
    hello = frames.Hello(
        device_uuid=uuid_bytes(uuid),
        allocation_kind=frames.AllocationKind.MANAGED,
        flags=frames.HelloFlags.WANTS,
        allocated=_MEMORY,
        pinned=0,
        swapped_out=0,
        memory_limit=2 * _MEMORY,
        compute_percent=0,
        limit_flags=frames.LimitFlags(0),
        turn=0,
        group=os.urandom(16),
        library_version="bench",
        slot_key=0,
    )
    client.send(hello.pack())
    client.setblocking(False)
    return client
