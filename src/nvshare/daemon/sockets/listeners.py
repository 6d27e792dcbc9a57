"""The sockets that programs and users connect to: opened, and opened again if they are removed.

A cleanup of /run, or root in a container that has the folder mounted, can remove a socket of a
running daemon. Connected programs do not notice; but later ones would find no daemon, and run
unmanaged. Accepting connections is up to the servers.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from nvshare.daemon.logs import fields
from nvshare.daemon.sockets.folders import Folder
from nvshare.errors import NvshareError

log = logging.getLogger("nvshare.listeners")

# Looking takes some microseconds for each socket.
_GLANCE = 1.0

Shut: TypeAlias = Callable[[], Awaitable[None]]
Serve: TypeAlias = Callable[[socket.socket], Awaitable[Shut]]
"""Begins to serve on a socket; returns a function that ends that and closes the socket."""


@dataclass
class _Listener:
    folder: Folder
    name: str
    mode: int
    serve: Serve
    shut: Shut | None = None
    made: os.stat_result | None = None
    # Why it could not be opened again, so that it is logged once.
    problem: str = ""

    @property
    def path(self) -> Path:
        return self.folder.path / self.name

    @property
    def is_there(self) -> bool:
        """Whether its path still leads to our socket."""
        try:
            return self.made is not None and os.path.samestat(self.made, self.path.lstat())
        except OSError:
            return False

    async def open(self) -> None:
        sock = self.folder.listen(self.name, self.mode)
        try:
            self.made = self.path.lstat()
            self.shut = await self.serve(sock)
        except OSError:
            sock.close()
            raise


class Listeners:
    """All listening sockets, in the order in which they were opened.

    Removed folders are made again as well, unless ``is_over`` says that the daemon is about to end.
    """

    def __init__(
        self, *, is_over: Callable[[], bool] = lambda: False, glance: float = _GLANCE
    ) -> None:
        self._is_over = is_over
        self._glance = glance
        self._listeners: list[_Listener] = []

    async def open(self, folder: Folder, name: str, mode: int, serve: Serve) -> None:
        """Make a socket, and serve on it."""
        listener = _Listener(folder, name, mode, serve)
        await listener.open()
        self._listeners.append(listener)

    async def follow(self) -> None:
        """Check now and then that all sockets are still there."""
        while True:
            await asyncio.sleep(self._glance)
            for listener in self._listeners:
                if not listener.is_there and not self._is_over():
                    await self._open_again(listener)

    async def _open_again(self, listener: _Listener) -> None:
        before = listener.shut
        try:
            if listener.folder.is_gone:
                listener.folder.make_again()
            await listener.open()
        except (OSError, NvshareError) as error:
            problem = (error.strerror if isinstance(error, OSError) else error.why) or str(error)
            if problem != listener.problem:
                log.error(
                    "a socket was removed and cannot be made again",
                    extra=fields(socket=listener.path, why=problem),
                )
            listener.problem = problem
            return
        listener.problem = ""
        log.warning("a socket was removed, and is there again", extra=fields(socket=listener.path))
        if before is not None:
            await before()

    async def close(self) -> None:
        """Stop accepting, and remove our sockets."""
        for listener in self._listeners:
            if listener.shut is not None:
                await listener.shut()
            if listener.is_there:
                with suppress(OSError):
                    listener.path.unlink()
