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

log = logging.getLogger("nvshare.doors")

_GLANCE = 2.0

Shut: TypeAlias = Callable[[], Awaitable[None]]
Serve: TypeAlias = Callable[[socket.socket], Awaitable[Shut]]
"""Begins to serve on a socket; returns what ends that, and closes it."""


@dataclass
class _Door:
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


class Doors:
    """All of them, in the order in which they were opened.

    Folders that are gone are made again too, unless the daemon is to end with them.
    """

    def __init__(self, *, makes_folders: bool, glance: float = _GLANCE) -> None:
        self._makes_folders = makes_folders
        self._glance = glance
        self._doors: list[_Door] = []

    async def open(self, folder: Folder, name: str, mode: int, serve: Serve) -> None:
        """Make a socket, and have it served."""
        door = _Door(folder, name, mode, serve)
        await door.open()
        self._doors.append(door)

    async def follow(self) -> None:
        """Look now and then whether they are all still there."""
        while True:
            await asyncio.sleep(self._glance)
            for door in self._doors:
                if not door.is_there and (self._makes_folders or not door.folder.is_gone):
                    await self._open_again(door)

    async def _open_again(self, door: _Door) -> None:
        before = door.shut
        try:
            if door.folder.is_gone:
                door.folder.make_again()
            await door.open()
        except (OSError, NvshareError) as error:
            problem = (error.strerror if isinstance(error, OSError) else error.why) or str(error)
            if problem != door.problem:
                log.error(
                    "a socket was removed and cannot be made again",
                    extra=fields(socket=door.path, why=problem),
                )
            door.problem = problem
            return
        door.problem = ""
        log.warning("a socket was removed, and is there again", extra=fields(socket=door.path))
        if before is not None:
            await before()

    async def close(self) -> None:
        """Let nobody in any more, and remove what is ours."""
        for door in self._doors:
            if door.shut is not None:
                await door.shut()
            if door.is_there:
                with suppress(OSError):
                    door.path.unlink()
