"""Metrics over TCP, for Prometheus. Nothing else is served here: the network is not to be trusted.

A connection is for one scrape, for a few seconds, and there are only so many: whoever scrapes
slowly, or never hangs up, is in the way of other scrapes at most.
"""

import asyncio
import socket

from aiohttp import web

from nvshare.daemon.control import Control
from nvshare.daemon.server import Server

# Prometheus itself waits for ten seconds, unless it is told otherwise.
_PATIENCE = 10.0
_MOST = 32
# Whoever has not read all of it when the daemon ends does not keep it from that.
_FAREWELL = 0.5


class Scrapes:
    """A listening socket and what it serves, until it is closed."""

    def __init__(self, control: Control, sock: socket.socket) -> None:
        app = web.Application()
        app.add_routes([web.get("/metrics", control.metrics)])
        self._runner = web.AppRunner(
            app, access_log=None, handle_signals=False, shutdown_timeout=_FAREWELL
        )
        self._sock = sock
        self._arrivals: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Serve from now on."""
        await self._runner.setup()
        self._accepting = Server(self._sock, asyncio.get_running_loop(), self._arrive)

    async def close(self) -> None:
        """Serve nobody any more."""
        self._accepting.close()
        await self._runner.cleanup()

    def _arrive(self, client: socket.socket) -> None:
        task = asyncio.get_running_loop().create_task(self._attend(client))
        self._arrivals.add(task)
        task.add_done_callback(self._arrivals.discard)

    async def _attend(self, client: socket.socket) -> None:
        server = self._runner.server
        if server is None:
            raise RuntimeError("it has not been started")
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_accepted_socket(server, client)
        if len(server.connections) > _MOST:
            transport.abort()
        else:
            loop.call_later(_PATIENCE, transport.abort)
