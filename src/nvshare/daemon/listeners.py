"""The sockets by which programs and people come in: opened, and again if somebody removes them.

Whoever tidies up /run, or has the folder mounted and is root there, can remove a socket of a daemon
that lives. Those who are connected do not notice; but everybody who came later would find no
daemon, and run unmanaged. What is accepted, and how, is the business of those who serve.
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
from nvshare.daemon.sockets import Folder
from nvshare.errors import NvshareError

log = logging.getLogger("nvshare.listeners")

_GLANCE = 2.0

Shut: TypeAlias = Callable[[], Awaitable[None]]
Serve: TypeAlias = Callable[[socket.socket], Awaitable[Shut]]
"""Begins to serve on a socket; returns what ends that, and closes it."""


@dataclass
class _Listener:
    folder: Folder
    name: str
    mode: int
    serve: Serve
    shut: Shut | None = None
    made: os.stat_result | None = None
    # Why it could not be opened again, so that it is said once.
    problem: str = ""

    @property
    def path(self) -> Path:
        return self.folder.path / self.name

    @property
    def is_there(self) -> bool:
        """Whether what has its name is the socket that we have made."""
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
    """All of them, in the order in which they were opened.

    Folders that are gone are made again too, unless the daemon is to end with them.
    """

    def __init__(self, *, makes_folders: bool, glance: float = _GLANCE) -> None:
        self._makes_folders = makes_folders
        self._glance = glance
        self._listeners: list[_Listener] = []

    async def open(self, folder: Folder, name: str, mode: int, serve: Serve) -> None:
        """Make a socket, and have it served."""
        listener = _Listener(folder, name, mode, serve)
        await listener.open()
        self._listeners.append(listener)

    async def follow(self) -> None:
        """Look now and then whether they are all still there."""
        while True:
            await asyncio.sleep(self._glance)
            for listener in self._listeners:
                if not listener.is_there and (self._makes_folders or not listener.folder.is_gone):
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
        """Let nobody in any more, and remove what is ours."""
        for listener in self._listeners:
            if listener.shut is not None:
                await listener.shut()
            if listener.is_there:
                with suppress(OSError):
                    listener.path.unlink()
