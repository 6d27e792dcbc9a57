"""The read-only part of the API, for all users.

    GET /v1/daemon                 the daemon's user, its GPUs, and its sockets
    GET /v1/health, /v1/status, /v1/node, /v1/devices/{gpu}, /v1/groups, /v1/groups/{who},
        /v1/trace, /v1/openapi.json, /metrics
                                   as on the control socket (control.py)

It is served on ``look.sock``, whose mode says which users may connect. The sockets by which the
daemon holds its GPUs (nvshare.launch.holders) have no mode: there every user gets the first of
these, and the others only if every user may look.
"""

import os
import socket
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from aiohttp import web

import nvshare
from nvshare.daemon.api.control import Control, Handler, explain, problem
from nvshare.daemon.node import Node
from nvshare.launch.peer import peer
from nvshare.launch.place import CONTROL_NAME
from nvshare.telemetry.hiding import hide_others
from nvshare.telemetry.snapshot import NodeStatus


class ReadOnlyApi:
    """The read-only servers, from start to close."""

    def __init__(
        self, control: Control, node: Node, folder: Path, control_folder: Path, *, hides: bool
    ) -> None:
        self._control = control
        self._node = node
        self._folder = folder
        self._control_folder = control_folder
        self._hides = hides
        self._full, self._brief = (
            web.AppRunner(app, access_log=None, handle_signals=False)
            for app in (self.application(), self._only_the_daemon())
        )

    def application(self) -> web.Application:
        """Return the application for users who may look."""
        app = web.Application(middlewares=[explain, self._refuse])
        app.add_routes(
            [
                web.get("/v1/daemon", self.daemon),
                web.get("/v1/health", self._control.health),
                web.get("/v1/status", self.status),
                web.get("/v1/node", self._control.get_node),
                web.get("/v1/devices/{gpu}", self._control.get_device),
                web.get("/v1/groups", self.groups),
                web.get("/v1/groups/{who}", self.group),
                web.get("/v1/trace", self.trace),
                web.get("/v1/openapi.json", self._control.openapi),
                web.get("/metrics", self.metrics),
            ]
        )
        return app

    def _only_the_daemon(self) -> web.Application:
        app = web.Application(middlewares=[self._refuse])
        app.add_routes([web.get("/v1/daemon", self.daemon)])
        return app

    async def start(self) -> None:
        """Prepare the servers for sockets."""
        await self._full.setup()
        await self._brief.setup()

    async def serve(
        self, sock: socket.socket, *, full: bool
    ) -> Callable[[], Coroutine[Any, Any, None]]:
        """Serve on one more socket; return a function that ends that and closes it."""
        site = web.SockSite(self._full if full else self._brief, sock)
        await site.start()
        return site.stop

    async def close(self) -> None:
        """Stop serving."""
        await self._full.cleanup()
        await self._brief.cleanup()

    async def daemon(self, request: web.Request) -> web.Response:
        """Describe this daemon, and the GPUs that it shares."""
        del request
        gpus = [{"index": gpu.index, "uuid": gpu.uuid} for gpu in self._node.gpus.all()]
        about = {"version": nvshare.__version__, "pid": os.getpid(), "folder": str(self._folder)}
        return web.json_response({**about, "gpus": gpus})

    async def status(self, request: web.Request) -> web.Response:
        """Describe the node, as far as this user may see it."""
        return web.json_response(text=self._seen_by(request).model_dump_json())

    async def groups(self, request: web.Request) -> web.Response:
        """Describe all groups."""
        shown = [group.model_dump() for group in self._seen_by(request).groups]
        return web.json_response({"groups": shown})

    async def group(self, request: web.Request) -> web.Response:
        """Describe one group. A hidden group is not found by its name."""
        key = self._node.find_group(request.match_info["who"]).key
        found = [group for group in self._seen_by(request).groups if group.key == key]
        if not found:
            what = "programs of other users are hidden"
            return problem(what, "hide_others is set", None, status=403)
        return web.json_response({"group": found[0].model_dump()})

    async def trace(self, request: web.Request) -> web.StreamResponse:
        """Stream the events from now on, as far as this user may see them."""
        return await self._control.traces.serve(request, self._viewer(request))

    async def metrics(self, request: web.Request) -> web.Response:
        """Describe the node for Prometheus."""
        return await self._control.expose(request, lambda: self._seen_by(request, past=False))

    def _seen_by(self, request: web.Request, *, past: bool = True) -> NodeStatus:
        status = self._control.snapshot(past=past)
        uid = self._viewer(request)
        return status if uid is None else hide_others(status, uid)

    def _viewer(self, request: web.Request) -> int | None:
        """Return the uid to hide others' data from; None: nothing is hidden."""
        uid = _uid_of(request)
        # Root sees everything anyway, and the daemon's own user can read the daemon's memory.
        return uid if self._hides and uid not in (0, os.getuid()) else None

    @web.middleware
    async def _refuse(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse any request that is not read-only, and say what it needs."""
        try:
            return await handler(request)
        except (web.HTTPMethodNotAllowed, web.HTTPNotFound):
            control = self._control_folder / CONTROL_NAME
            return problem(
                "this socket is read-only",
                f"{request.method} {request.path} needs the control socket, {control}",
                "use sudo, or ask the administrator of the daemon to set control_mode and "
                "socket_group so that you may use the control socket",
                status=403,
            )


def _uid_of(request: web.Request) -> int:
    """Return the uid of the peer, as the kernel knows it."""
    sock = request.transport.get_extra_info("socket") if request.transport else None
    return -1 if sock is None else peer(sock)[1]
