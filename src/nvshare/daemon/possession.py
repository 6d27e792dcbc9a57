"""The GPUs that are this daemon's, locked so that no other daemon shares them.

What the lock is, and why, is in nvshare.launch.holders.
"""

import errno
import socket
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from types import TracebackType

from nvshare.daemon.devices import Gpu
from nvshare.launch.holders import (
    NOBODY,
    Holder,
    TakenError,
    find_holder,
    hidden_daemon,
    lock_address,
)

_BACKLOG = 64


class Possession:
    """Locks that are held for as long as this object is open."""

    def __init__(self, environ: Mapping[str, str], *, is_shared: bool = False) -> None:
        self._environ = environ
        # Somebody wants a daemon beside another one, whatever comes of it.
        self._is_shared = is_shared
        self._open = ExitStack()
        self._locks: dict[str, socket.socket] = {}

    def __enter__(self) -> "Possession":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def check_hidden(self) -> None:
        """Refuse if the machine has a daemon whose locks cannot be seen from here."""
        if not self._is_shared and (holder := hidden_daemon(self._environ)) is not None:
            raise TakenError([holder])

    def take(self, gpus: Iterable[Gpu]) -> None:
        """Lock GPUs; TakenError names all that somebody else has."""
        taken: list[Holder] = []
        for gpu in gpus:
            if not self._is_shared and gpu.uuid not in self._locks:
                self._lock(gpu, taken)
        if taken:
            raise TakenError(taken)

    def take_one(self, gpu: Gpu) -> socket.socket | None:
        """Lock a GPU, if it is not locked yet; return the socket on which others ask about it."""
        self.take([gpu])
        return self._locks.get(gpu.uuid)

    def _lock(self, gpu: Gpu, taken: list[Holder]) -> None:
        address = lock_address(gpu.uuid, self._environ)
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            sock.bind(address)
        except OSError as error:
            sock.close()
            if error.errno != errno.EADDRINUSE:
                raise
            # Who has bound it and does not listen cannot be asked who it is.
            found = find_holder(gpu.uuid, self._environ) or Holder(gpu.uuid, 0, NOBODY, address)
            taken.append(found)
        else:
            sock.listen(_BACKLOG)
            self._locks[gpu.uuid] = self._open.enter_context(sock)
