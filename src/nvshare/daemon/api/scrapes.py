"""Metrics over TCP, for Prometheus. Nothing else is served here: the network is not trusted.

A connection lasts for one scrape and a few seconds, and the number of connections in that time is
bounded. So a client that scrapes all the time, or slowly, or never hangs up, can only delay other
scrapes.
"""

import asyncio
import socket

from aiohttp import web

from nvshare.daemon.api.control import Control
from nvshare.daemon.sockets.server import Server

# Prometheus itself waits for ten seconds by default.
_PATIENCE = 10.0
_MOST = 32


class Scrapes:
    """A listening socket that serves metrics until it is closed."""

    def __init__(self, control: Control, sock: socket.socket) -> None:
        app = web.Application()
        app.add_routes([web.get("/metrics", control.metrics)])
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False)
        self._sock = sock
        self._arriving: set[asyncio.Task[None]] = set()
        # The connections of the last few seconds, open or closed.
        self._recent: set[asyncio.Transport] = set()

    async def start(self) -> None:
        """Start serving."""
        await self._runner.setup()
        self._accepting = Server(self._sock, asyncio.get_running_loop(), self._arrive)

    async def close(self) -> None:
        """Stop serving."""
        self._accepting.close()
        for transport in self._recent:
            transport.abort()
        await self._runner.cleanup()

    def _arrive(self, client: socket.socket) -> bool:
        if len(self._arriving) + len(self._recent) >= _MOST:
            client.close()
            return False
        task = asyncio.get_running_loop().create_task(self._attend(client))
        self._arriving.add(task)
        task.add_done_callback(self._arriving.discard)
        return True

    async def _attend(self, client: socket.socket) -> None:
        server = self._runner.server
        if server is None:
            raise RuntimeError("it has not been started")
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_accepted_socket(server, client)
        self._recent.add(transport)
        loop.call_later(_PATIENCE, self._let_go, transport)

    def _let_go(self, transport: asyncio.Transport) -> None:
        transport.abort()
        self._recent.discard(transport)
