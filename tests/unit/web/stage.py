"""A server of the page in front of a scripted source, on a port of this machine."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp

from nvshare.errors import BadInputError, NvshareError
from nvshare.settings import ClientLimits
from nvshare.telemetry.snapshot import GroupStatus, NodeStatus
from nvshare.web.peers import Peers
from nvshare.web.server import WebServer

from ..telemetry.making import make_client, make_node

TOKEN = "a-token-of-more-than-22-characters"  # noqa: S105 (of a test)
PATIENCE = aiohttp.ClientTimeout(total=10)
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


class Told:
    """A scripted source."""

    def __init__(self, *statuses: NodeStatus | NvshareError) -> None:
        self._statuses = statuses or (make_node(make_client(1), make_client(2)),)
        self.looks = 0
        self.changed: list[tuple[int, dict[str, Any]]] = []

    def status(self) -> NodeStatus:
        """Return the next status; the last one again and again."""
        said = self._statuses[min(self.looks, len(self._statuses) - 1)]
        self.looks += 1
        if isinstance(said, NvshareError):
            raise said
        return said

    def may_change(self) -> bool:
        """Allow changes."""
        return True

    def park(self, program: int, parked: bool) -> GroupStatus:
        """Note the change."""
        self.changed.append((program, {"parked": parked}))
        limits = ClientLimits()
        return GroupStatus(
            key="g", name="g", pids=(), limits=limits, sources={}, uses=(), parked=parked
        )

    def change_limits(self, program: int, changes: dict[str, Any]) -> GroupStatus:
        """Note the change. Program 9 belongs to a pod."""
        if program == 9:
            raise BadInputError(
                "memory_limit is set by an annotation of its pod", do="annotate the pod"
            )
        self.changed.append((program, changes))
        limits = ClientLimits().changed(changes)
        return GroupStatus(key="g", name="g", pids=(), limits=limits, sources={}, uses=())


class Visit:
    """A client of the server at a port."""

    def __init__(self, session: aiohttp.ClientSession, port: int) -> None:
        self.session = session
        self.port = port

    async def ask(
        self, method: str, path: str, *, headers: Any = HEADERS, **more: Any
    ) -> tuple[int, Any]:
        """Send a request; return the status and the content of the answer."""
        url = f"http://127.0.0.1:{self.port}{path}"
        async with self.session.request(method, url, headers=headers, **more) as answer:
            is_json = answer.content_type == "application/json"
            return answer.status, await (answer.json() if is_json else answer.text())


def listening(address: str = "127.0.0.1") -> socket.socket:
    """A socket on a free port."""
    sock = socket.create_server((address, 0))
    sock.setblocking(False)
    return sock


def visit(
    source: Told,
    act: Callable[[Visit], Awaitable[None]],
    *,
    name: str = "here",
    sock: socket.socket | None = None,
    **options: Any,
) -> None:
    """Serve while a test acts."""

    async def run() -> None:
        async with (
            serving(source, name=name, sock=sock, **options) as port,
            aiohttp.ClientSession(timeout=PATIENCE) as session,
        ):
            await act(Visit(session, port))

    asyncio.run(run())


class serving:  # noqa: N801 (a context, as those of contextlib)
    """A server that ends with the context."""

    def __init__(
        self,
        source: Told,
        *,
        name: str = "here",
        sock: socket.socket | None = None,
        hosts: tuple[str, ...] = (),
        peers: Peers | None = None,
    ) -> None:
        self._server = WebServer(name, source, TOKEN, hosts=hosts, peers=peers)
        self._sock = sock or listening()
        self._stop = asyncio.Event()

    async def __aenter__(self) -> int:
        self._task = asyncio.create_task(self._server.serve(self._sock, self._stop))
        return int(self._sock.getsockname()[1])

    async def __aexit__(self, *details: object) -> None:
        self._stop.set()
        await self._task
