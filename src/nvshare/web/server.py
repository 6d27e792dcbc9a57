"""The web server: its routes, and serving on a socket until the end.

    GET  /, /app.js, …                the page; all that follows needs the token
    GET  /v1/view?after=TIME          all nodes (nvshare.web.views.View), samples since then
    GET  /v1/node?after=TIME          this one
    GET  /v1/why?node=NAME&program=ID what `nvshare why` says of a program
    POST /v1/limits                   {"node": NAME, "program": ID, "changes": {"memory_limit": …}}
    POST /v1/park                     {"node": NAME, "program": ID, "parked": true}

Times are milliseconds of Unix time.
"""

import asyncio
import json
import socket
from collections.abc import Collection
from typing import Any

from aiohttp import web

from nvshare.errors import BadInputError, NvshareError
from nvshare.parsing import parse_body
from nvshare.settings import ClientLimits
from nvshare.telemetry.why import explain
from nvshare.web.guard import Guard, Handler, refuse
from nvshare.web.pages import page_routes
from nvshare.web.peers import Peers
from nvshare.web.source import Source
from nvshare.web.views import View
from nvshare.web.watch import Watcher

_LARGEST = 64 << 10
_CHANGEABLE = set(ClientLimits.model_fields)


class WebServer:
    """The handlers, with the sources of their data."""

    def __init__(
        self,
        name: str,
        source: Source,
        token: str,
        *,
        hosts: Collection[str] = (),
        peers: Peers | None = None,
    ) -> None:
        self._source = source
        self._watcher = Watcher(name, source)
        self._guard = Guard(token, hosts)
        self._peers = peers

    def application(self) -> web.Application:
        """Return the application that serves the site."""
        app = web.Application(client_max_size=_LARGEST)
        self._guard.protect(app)
        app.middlewares.append(_explain)
        app.add_routes(
            [
                *page_routes(),
                web.get("/v1/view", self.view),
                web.get("/v1/node", self.node),
                web.get("/v1/why", self.why),
                web.post("/v1/limits", self.limits),
                web.post("/v1/park", self.park),
            ]
        )
        return app

    async def serve(self, sock: socket.socket, stop: asyncio.Event) -> None:
        """Serve on a socket until told to stop."""
        if self._peers is not None:
            await self._peers.start()
        # Requests are not logged.
        runner = web.AppRunner(
            self.application(), access_log=None, handle_signals=False, shutdown_timeout=1.0
        )
        await runner.setup()
        watching = asyncio.create_task(self._watcher.run())
        ending = asyncio.create_task(stop.wait())
        try:
            await web.SockSite(runner, sock).start()
            await asyncio.wait({watching, ending}, return_when=asyncio.FIRST_COMPLETED)
            if watching.done():
                watching.result()
        finally:
            watching.cancel()
            ending.cancel()
            await runner.cleanup()
            if self._peers is not None:
                await self._peers.close()

    async def view(self, request: web.Request) -> web.Response:
        """Show all nodes; this one from local data."""
        after = _number(request.query, "after", 0)
        own = await self._watcher.view(after)
        others = [] if self._peers is None else await self._peers.views(after)
        nodes = {one.name: one for one in (*others, own)}
        shown = View(nodes=tuple(nodes[name] for name in sorted(nodes)))
        return _json(shown.model_dump_json())

    async def node(self, request: web.Request) -> web.Response:
        """Show this node."""
        return _json(
            (await self._watcher.view(_number(request.query, "after", 0))).model_dump_json()
        )

    async def why(self, request: web.Request) -> web.Response:
        """Say how a program's time was spent, and what would help."""
        name, program = request.query.get("node", ""), _number(request.query, "program")
        if self._is_elsewhere(name):
            return await self._forward(name, "GET", f"/v1/why?program={program}")
        status = await self._watcher.attend()
        if status is None or all(one.id != program for one in status.clients):
            raise BadInputError(f"there is no program {program} any more")
        return _json(json.dumps({"sentences": explain(status, program).sentences()}))

    async def limits(self, request: web.Request) -> web.Response:
        """Change the limits of a program, and so of its whole group."""
        body = parse_body(await request.read())
        name, program, changes = body.get("node", ""), _program(body), body.get("changes")
        if not isinstance(changes, dict) or not changes or not set(changes) <= _CHANGEABLE:
            raise BadInputError(
                "changes has to name limits", do=f"these are {', '.join(sorted(_CHANGEABLE))}"
            )
        if self._is_elsewhere(name):
            order = {"program": program, "changes": changes}
            return await self._forward(name, "POST", "/v1/limits", order)
        group = await asyncio.to_thread(self._source.change_limits, program, changes)
        self._watcher.expire()
        return _json(json.dumps({"group": group.model_dump()}))

    async def park(self, request: web.Request) -> web.Response:
        """Park a program with its whole group, or let it continue."""
        body = parse_body(await request.read())
        name, program, parked = body.get("node", ""), _program(body), body.get("parked")
        if not isinstance(parked, bool):
            raise BadInputError("parked has to be true or false")
        if self._is_elsewhere(name):
            order = {"program": program, "parked": parked}
            return await self._forward(name, "POST", "/v1/park", order)
        group = await asyncio.to_thread(self._source.park, program, parked)
        self._watcher.expire()
        return _json(json.dumps({"group": group.model_dump()}))

    def _is_elsewhere(self, node: Any) -> bool:
        if self._peers is None or node in ("", self._watcher.name):
            return False
        if not isinstance(node, str):
            raise BadInputError("node has to be the name of a node")
        return True

    async def _forward(self, node: str, method: str, path: str, body: Any = None) -> web.Response:
        if self._peers is None:
            raise RuntimeError("there are no others")
        status, answer = await self._peers.ask(node, method, path, body)
        return web.json_response(answer, status=status)


def _json(text: str) -> web.Response:
    response = web.json_response(text=text)
    response.enable_compression()
    return response


def _number(query: Any, name: str, default: int | None = None) -> int:
    text = query.get(name, default)
    try:
        return int(text)
    except (TypeError, ValueError):
        raise BadInputError(f"{name} has to be a number") from None


def _program(body: dict[str, Any]) -> int:
    program = body.get("program")
    if not isinstance(program, int) or isinstance(program, bool):
        raise BadInputError("program has to be the id of a program")
    return program


@web.middleware
async def _explain(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn errors into answers that the page can show."""
    try:
        return await handler(request)
    except BadInputError as error:
        return refuse(400, error.what, error.why, error.do)
    except NvshareError as error:
        return refuse(502, error.what, error.why, error.do)
    except web.HTTPException as error:
        return refuse(error.status, f"{request.method} {request.path}: {error.reason}")
