"""The GPUs of this daemon, locked so that no other daemon shares them.

nvshare.launch.holders explains the lock; root_lock.py is an additional lock of root's.
"""

import errno
import logging
import os
import socket
from collections.abc import Iterable, Mapping
from contextlib import ExitStack

from nvshare.daemon.gpus.root_lock import lock_for_root
from nvshare.daemon.gpus.survey import Gpu
from nvshare.daemon.logs import fields
from nvshare.launch.holders import (
    NOBODY,
    Holder,
    TakenError,
    find_holder,
    hidden_daemon,
    lock_address,
    usable,
)

log = logging.getLogger("nvshare.daemon")

_BACKLOG = 64


class GpuLocks:
    """Locks that are held while this object is open."""

    def __init__(self, environ: Mapping[str, str], *, is_shared: bool = False) -> None:
        self._environ = environ
        # The user wants a daemon beside another one, whatever the consequences.
        self._is_shared = is_shared
        self._open = ExitStack()
        self._locks: dict[str, socket.socket] = {}
        # All GPUs of this daemon, also those whose name another process has.
        self._taken: set[str] = set()

    def __enter__(self) -> "GpuLocks":
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def check_hidden(self) -> None:
        """Refuse if the machine has a daemon whose locks cannot be seen from here."""
        if not self._is_shared and (holder := hidden_daemon(self._environ)) is not None:
            raise TakenError([holder])

    def take(self, gpus: Iterable[Gpu]) -> None:
        """Lock GPUs; TakenError names all that another daemon has."""
        taken: list[Holder] = []
        for gpu in gpus:
            if not self._is_shared and gpu.uuid not in self._taken:
                self._lock(gpu, taken)
        if taken:
            raise TakenError(taken)

    def take_one(self, gpu: Gpu) -> socket.socket | None:
        """Lock a GPU, if it is not locked yet; return the socket for questions about it."""
        self.take([gpu])
        return self._locks.get(gpu.uuid)

    def _lock(self, gpu: Gpu, taken: list[Holder]) -> None:
        address = lock_address(gpu.uuid, self._environ)
        roots = lock_for_root(gpu.uuid, self._environ) if os.getuid() == 0 else None
        if isinstance(roots, Holder):
            taken.append(find_holder(gpu.uuid, self._environ) or roots)
            return
        holder = self._take_name(gpu, address)
        if holder is not None and not (roots is not None and self._may_ignore(gpu, holder)):
            if roots is not None:
                os.close(roots)
            # The holder may say more about itself.
            taken.append(find_holder(gpu.uuid, self._environ) or holder)
            return
        if roots is not None:
            self._open.callback(os.close, roots)
        self._taken.add(gpu.uuid)

    def _take_name(self, gpu: Gpu, address: str) -> Holder | None:
        """Take the name that all processes can see; return its holder, if it has one."""
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            sock.bind(address)
        except OSError as error:
            sock.close()
            if error.errno != errno.EADDRINUSE:
                raise
            found = find_holder(gpu.uuid, self._environ, asks=False)
            # A holder that has bound the name and does not listen cannot be asked.
            return found or Holder(gpu.uuid, 0, NOBODY, address)
        sock.listen(_BACKLOG)
        self._locks[gpu.uuid] = self._open.enter_context(sock)
        return None

    def _may_ignore(self, gpu: Gpu, holder: Holder) -> bool:
        """Whether root's daemon goes on although another process has the name; log it then.

        Another daemon of root's would have root's lock as well, unless it is in a container; then
        it listens in a folder that we know. No other user may keep the machine's daemon from its
        GPUs.
        """
        if holder.uid == 0:
            asked = find_holder(gpu.uuid, self._environ)
            if asked is not None and usable([asked]) is not None:
                return False
        log.warning(
            "another process holds the socket name that stands for sharing this GPU: root's "
            "daemon goes on without it. If that process is a daemon, the two daemons give away "
            "the same memory: end it",
            extra=fields(device=gpu.index, pid=holder.pid, uid=holder.uid),
        )
        return True
