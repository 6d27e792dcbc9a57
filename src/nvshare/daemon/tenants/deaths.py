"""Ends connections with the process that has made them.

A connection stays open for as long as any process has it, and a child that a program makes past the
C library (clone) has all of its parent's. When the parent is killed, nobody answers the daemon any
more, and its memory is free: its connections end, whoever has them.

A process takes one descriptor, however many connections it has. Where there is none left, or the
kernel (before 5.3) has no such descriptors, connections end when the last process closes them.
"""

import asyncio
import os
from typing import Protocol

from nvshare import kernel
from nvshare.daemon.tenants.identity import Identity, is_another

# What a process has written before its end is read first, and the end of the connection with it.
_GRACE = 0.25
_WHY = "its process has ended"


class Mortal(Protocol):
    """A connection that ends with its process."""

    def close(self, why: str) -> None:
        """End it."""


class Deaths:
    """The processes that have connections."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._processes: dict[tuple[int, int], _Process] = {}

    def follow(self, who: Identity, connection: Mortal) -> None:
        """Close a connection soon after the end of its process."""
        key = (who.pid, who.started)
        if key not in self._processes:
            try:
                descriptor = _open(who)
            except ProcessLookupError:
                self._loop.call_later(_GRACE, connection.close, _WHY)
                return
            except OSError:
                return
            self._processes[key] = _Process(self._loop, descriptor)
        self._processes[key].connections.add(connection)

    def forget(self, who: Identity, connection: Mortal) -> None:
        """Note that a connection has ended."""
        process = self._processes.get((who.pid, who.started))
        if process is None:
            return
        process.connections.discard(connection)
        if not process.connections:
            process.close()
            del self._processes[who.pid, who.started]


class _Process:
    def __init__(self, loop: asyncio.AbstractEventLoop, descriptor: int) -> None:
        self._loop = loop
        self._descriptor = descriptor
        self._later: asyncio.TimerHandle | None = None
        self.connections: set[Mortal] = set()
        loop.add_reader(descriptor, self._has_ended)

    def close(self) -> None:
        self._loop.remove_reader(self._descriptor)
        if self._later is not None:
            self._later.cancel()
        os.close(self._descriptor)

    def _has_ended(self) -> None:
        self._loop.remove_reader(self._descriptor)
        self._later = self._loop.call_later(_GRACE, self._end)

    def _end(self) -> None:
        for connection in list(self.connections):
            connection.close(_WHY)


def _open(who: Identity) -> int:
    """Open a descriptor of a process. Raises OSError."""
    if not who.pid:
        raise PermissionError("we cannot see its pid")
    descriptor = kernel.pidfd_open(who.pid)
    if not is_another(who):
        return descriptor
    os.close(descriptor)
    raise ProcessLookupError("it has ended, and its pid is another's")
