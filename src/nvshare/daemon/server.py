"""Accepts clients. Running out of descriptors or memory is a pause, not an end."""

import asyncio
import logging
import socket
from collections.abc import Callable

from nvshare.daemon.identity import EXHAUSTED
from nvshare.daemon.logs import fields

log = logging.getLogger("nvshare.server")

# How many to accept before others get a chance, and how long to wait for the system to recover.
_AT_ONCE = 64
_PAUSE = 0.2


class Server:
    """A listening socket on the event loop."""

    def __init__(
        self,
        sock: socket.socket,
        loop: asyncio.AbstractEventLoop,
        on_client: Callable[[socket.socket], None],
    ) -> None:
        self._sock = sock
        self._loop = loop
        self._on_client = on_client
        self._resuming: asyncio.TimerHandle | None = None
        loop.add_reader(sock.fileno(), self._accept)

    def close(self) -> None:
        """Accept no more."""
        if self._resuming is not None:
            self._resuming.cancel()
        self._loop.remove_reader(self._sock.fileno())
        self._sock.close()

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                client, _ = self._sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in EXHAUSTED:
                    raise
                self._pause(error)
                return
            if not self._take(client):
                return

    def _take(self, client: socket.socket) -> bool:
        """Let a client in. One that cannot be told from others for now is sent away."""
        try:
            self._on_client(client)
        except OSError as error:
            client.close()
            if error.errno not in EXHAUSTED:
                raise
            self._pause(error)
            return False
        return True

    def _pause(self, error: OSError) -> None:
        log.warning("no client can be accepted for now", extra=fields(why=error.strerror))
        # The waiting connection keeps the socket readable: without a pause this would spin.
        self._loop.remove_reader(self._sock.fileno())
        self._resuming = self._loop.call_later(_PAUSE, self._resume)

    def _resume(self) -> None:
        self._resuming = None
        self._loop.add_reader(self._sock.fileno(), self._accept)
        self._accept()
