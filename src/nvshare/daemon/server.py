"""Accepts clients. Running out of descriptors or memory is a pause, not an end.

Refusing costs time as well, and whoever is refused can come again at once. So there is a budget for
that (``_REFUSING``). When it is used up, those who come wait in the kernel's queue for a moment:
it is emptied at some thousands a second, so that somebody else who comes waits for less than one.
"""

import asyncio
import logging
import socket
import time
from collections.abc import Callable

from nvshare.daemon.cpu_budget import CpuBudget
from nvshare.daemon.identity import EXHAUSTED
from nvshare.daemon.logs import fields

log = logging.getLogger("nvshare.server")

# How many to accept, and for how long, before others get a chance; and how long to wait for the
# system to recover.
_AT_ONCE = 64
_SECONDS_AT_ONCE = 0.001
_PAUSE = 0.2
# What refusing may take of a core in the long run; and how many seconds of it at once.
_REFUSING = 0.04
_REFUSING_AT_ONCE = 0.02


class Server:
    """A listening socket on the event loop. ``on_client`` says whether it has let one in."""

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
        """Accept no more."""
        if self._resuming is not None:
            self._resuming.cancel()
        self._loop.remove_reader(self._sock.fileno())
        self._sock.close()

    def _accept(self) -> None:
        # Of this thread: what others do on the machine does not count.
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
            # Letting one in takes much longer than refusing one: those who are in come between.
            if end - first > _SECONDS_AT_ONCE:
                return
            begin = end

    def _take(self, client: socket.socket) -> bool:
        """Let a client in. One that cannot be told from others for now is sent away."""
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
        # Until there is some of it, and not just the next one's worth.
        self._pause(self._refusing.pause + _REFUSING_AT_ONCE)
        return True

    def _run_out(self, error: OSError) -> None:
        log.warning("no client can be accepted for now", extra=fields(why=error.strerror))
        self._pause(_PAUSE)

    def _pause(self, seconds: float) -> None:
        # The waiting connection keeps the socket readable: without a pause this would spin.
        self._loop.remove_reader(self._sock.fileno())
        self._resuming = self._loop.call_later(seconds, self._resume)

    def _resume(self) -> None:
        self._resuming = None
        self._loop.add_reader(self._sock.fileno(), self._accept)
