"""Accepts clients. Running out of descriptors or memory is a pause, not an end.

Refusing costs time as well, and a refused client can connect again immediately. So refusing has a
budget (``_REFUSING``). When it is used up, new connections wait in the kernel's queue for a moment.
The queue is emptied at some thousands a second, so another client waits for less than one second.
"""

import asyncio
import logging
import socket
import time
from collections.abc import Callable

from nvshare.daemon.logs import fields
from nvshare.daemon.tenants.cpu_budget import CpuBudget
from nvshare.daemon.tenants.identity import EXHAUSTED

log = logging.getLogger("nvshare.server")

# How many to accept, and for how long, before the event loop runs again; and how long to wait for
# the system to recover.
_AT_ONCE = 64
_SECONDS_AT_ONCE = 0.001
_PAUSE = 0.2
# The part of a core that refusing may take in the long run; and the most seconds at once.
_REFUSING = 0.04
_REFUSING_AT_ONCE = 0.02


class Server:
    """A listening socket on the event loop. ``on_client`` returns whether it admitted a client."""

    def __init__(
        self,
        sock: socket.socket,
        loop: asyncio.AbstractEventLoop,
        on_client: Callable[[socket.socket], bool],
    ) -> None:
        self._sock = sock
        self._loop = loop
        self._on_client = on_client
        self._resuming: asyncio.TimerHandle | None = None
        most = _REFUSING_AT_ONCE
        self._refusing = CpuBudget(_REFUSING, most, most, loop.time())
        loop.add_reader(sock.fileno(), self._accept)

    def close(self) -> None:
        """Stop accepting."""
        if self._resuming is not None:
            self._resuming.cancel()
        self._loop.remove_reader(self._sock.fileno())
        self._sock.close()

    def _accept(self) -> None:
        # CPU time of this thread: other load on the machine does not count.
        first = begin = time.thread_time()
        for _ in range(_AT_ONCE):
            try:
                client, _ = self._sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in EXHAUSTED:
                    raise
                self._run_out(error)
                return
            is_in = self._take(client)
            end = time.thread_time()
            if not is_in:
                self._refusing.spend(self._loop.time(), end - begin)
            if self._resuming is not None or self._has_refused_enough():
                return
            # Admitting takes much longer than refusing: connected clients are served in between.
            if end - first > _SECONDS_AT_ONCE:
                return
            begin = end

    def _take(self, client: socket.socket) -> bool:
        """Let a client in. One that cannot be identified at the moment is sent away."""
        try:
            return self._on_client(client)
        except OSError as error:
            client.close()
            if error.errno not in EXHAUSTED:
                raise
            self._run_out(error)
            return False

    def _has_refused_enough(self) -> bool:
        if self._refusing.left > 0:
            return False
        # Until some budget has built up, and not just enough for the next one.
        self._pause(self._refusing.pause + _REFUSING_AT_ONCE)
        return True

    def _run_out(self, error: OSError) -> None:
        log.warning("no program can be let in for now", extra=fields(why=error.strerror))
        self._pause(_PAUSE)

    def _pause(self, seconds: float) -> None:
        # The waiting connection keeps the socket readable: without a pause this would spin.
        self._loop.remove_reader(self._sock.fileno())
        self._resuming = self._loop.call_later(seconds, self._resume)

    def _resume(self) -> None:
        self._resuming = None
        self._loop.add_reader(self._sock.fileno(), self._accept)
