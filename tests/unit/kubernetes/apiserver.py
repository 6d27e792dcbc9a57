"""A scripted API server: gives the answers that a test has prepared, and notes the requests."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from nvshare.kubernetes.client import Access, Client

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class ApiServer:
    """Answers lists and watches in the order in which a test has prepared the answers."""

    def __init__(self) -> None:
        self.lists: list[dict[str, Any]] = []
        self.watches: list[list[dict[str, Any]] | int] = []
        self.events: list[dict[str, Any]] = []
        self.requests: list[dict[str, str]] = []
        self.tokens: list[str] = []
        self.event_status = 201
        # Set when all prepared answers have been requested.
        self.exhausted = asyncio.Event()
        app = web.Application()
        app.router.add_get("/api/v1/pods", self._pods)
        app.router.add_post("/api/v1/namespaces/team/events", self._event)
        self._server = TestServer(app)

    async def __aenter__(self) -> "ApiServer":
        await self._server.start_server()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._server.close()

    def client(self) -> Client:
        """Return a client of this server."""
        return Client(Access(str(self._server.make_url("/")).rstrip("/")))

    @property
    def url(self) -> str:
        """Its URL."""
        return str(self._server.make_url("/")).rstrip("/")

    async def _pods(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(dict(request.query))
        self.tokens.append(request.headers.get("Authorization", ""))
        if "watch" in request.query:
            return await self._watch(request)
        return web.json_response(self.lists.pop(0))

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        if not self.watches:
            self.exhausted.set()
            await asyncio.sleep(3600)
        script = self.watches.pop(0)
        if isinstance(script, int):
            return web.json_response({"message": "so it is"}, status=script)
        response = web.StreamResponse()
        await response.prepare(request)
        for event in script:
            text = json.dumps(event).encode() + b"\n"
            # In pieces: an event may arrive in several.
            await response.write(text[:10])
            await response.write(text[10:])
        return response

    async def _event(self, request: web.Request) -> web.Response:
        self.events.append(await request.json())
        return web.json_response({}, status=self.event_status)


def pod_list(*pods: dict[str, Any], version: str = "1", more: str = "") -> dict[str, Any]:
    """Return a list of pods, as the server gives it."""
    return {"items": list(pods), "metadata": {"resourceVersion": version, "continue": more}}


def event(kind: str, pod: dict[str, Any]) -> dict[str, Any]:
    """Return an event of a watch."""
    return {"type": kind, "object": pod}


def bookmark(version: str) -> dict[str, Any]:
    """Return an event that only tells the present version."""
    return event("BOOKMARK", {"kind": "Pod", "metadata": {"resourceVersion": version}})
