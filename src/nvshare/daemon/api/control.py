"""The control API: HTTP and JSON on a Unix socket, for everything that people use.

    GET   /v1/health                 whether the daemon is alive, and its version
    GET   /v1/status                 everything (nvshare.telemetry.snapshot.NodeStatus)
    GET   /v1/node                   settings of the whole node
    PATCH /v1/node                   change them
    GET   /v1/devices/{gpu}          settings; gpu is an index, a UUID or the beginning of one
    PATCH /v1/devices/{gpu}          change settings; gpu may be "all"
    GET   /v1/groups                 all groups: their limits, and what they use
    GET   /v1/groups/{who}           one of them; who is an id, a pid, a program, a pod or a
                                     container
    PATCH /v1/groups/{who}           change its limits
    POST  /v1/groups/{who}/park      have all its memory leave the GPUs, and give it no turn
    POST  /v1/groups/{who}/unpark    let it go on
    GET   /v1/journal                the journal so far, as JSON lines
    GET   /v1/trace?seconds=30       events from now on, as JSON lines (traces.py)
    GET   /v1/openapi.json           all of this, for tools (openapi.py)
    GET   /metrics                   everything, as Prometheus reads it

A user who may connect to the socket may do all of this: its mode and group are the permissions.
"""

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from aiohttp import web
from pydantic import ValidationError

import nvshare
from nvshare.core.core import Core
from nvshare.daemon.api.traces import Traces
from nvshare.daemon.gpus.survey import Gpu
from nvshare.daemon.groups.groups import Group
from nvshare.daemon.groups.park import park, unpark
from nvshare.daemon.node import Node
from nvshare.daemon.status.describe_group import describe_group
from nvshare.daemon.status.snapshots import Snapshots, describe_gpu
from nvshare.daemon.tenants.identity import identify
from nvshare.errors import BadInputError
from nvshare.launch.peer import peer
from nvshare.parsing import parse_body
from nvshare.settings import ClientLimits
from nvshare.telemetry.snapshot import NodeStatus
from nvshare.users import user_name
from nvshare.validation import describe

if TYPE_CHECKING:
    from nvshare.telemetry.exporter import Exposition

# Seconds for which metrics are written before the event loop runs again.
_AT_ONCE = 0.001

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Control:
    """The handlers. They read and change the node, between two turns of the event loop."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._snapshots = Snapshots(node, node.now())
        self._exposing = asyncio.Lock()
        self._exposition: Exposition | None = None
        self.traces = Traces(node)

    @property
    def _core(self) -> Core:
        return self._node.core

    def application(self) -> web.Application:
        """Return the application that a site serves."""
        app = web.Application(middlewares=[explain])
        app.add_routes(
            [
                web.get("/v1/health", self.health),
                web.get("/v1/status", self.status),
                web.get("/v1/node", self.get_node),
                web.patch("/v1/node", self.patch_node),
                web.get("/v1/devices/{gpu}", self.get_device),
                web.patch("/v1/devices/{gpu}", self.patch_device),
                web.get("/v1/groups", self.get_groups),
                web.get("/v1/groups/{who}", self.get_group),
                web.patch("/v1/groups/{who}", self.patch_group),
                web.post("/v1/groups/{who}/park", self.park_group),
                web.post("/v1/groups/{who}/unpark", self.unpark_group),
                web.get("/v1/journal", self.journal),
                web.get("/v1/trace", self.trace),
                web.get("/v1/openapi.json", self.openapi),
                web.get("/metrics", self.metrics),
            ]
        )
        return app

    def snapshot(self, *, past: bool = True) -> NodeStatus:
        """Return the node as it is now; without ``past``, not the last minute of its clients."""
        return self._snapshots.take(past=past)

    async def health(self, request: web.Request) -> web.Response:
        """Confirm that the daemon is alive."""
        del request
        return web.json_response({"status": "ok", "version": nvshare.__version__})

    async def status(self, request: web.Request) -> web.Response:
        """Describe the node."""
        del request
        return web.json_response(text=self.snapshot().model_dump_json())

    async def get_node(self, request: web.Request) -> web.Response:
        """Give the settings of the node."""
        del request
        return web.json_response({"settings": self._node.node_settings.model_dump()})

    async def patch_node(self, request: web.Request) -> web.Response:
        """Change settings of the node."""
        self._node.change_node(self._node.node_settings.changed(parse_body(await request.read())))
        return await self.get_node(request)

    async def get_device(self, request: web.Request) -> web.Response:
        """Describe some GPUs."""
        return self._devices(self._gpus(request))

    async def patch_device(self, request: web.Request) -> web.Response:
        """Change settings of some GPUs: of all of them, or of none if one fails."""
        gpus = self._gpus(request)
        changes = parse_body(await request.read())
        new = [self._node.gpus.settings[gpu.uuid].changed(changes) for gpu in gpus]
        for gpu, settings in zip(gpus, new, strict=True):
            self._node.change_settings(gpu, settings)
        return self._devices(gpus)

    async def get_groups(self, request: web.Request) -> web.Response:
        """Describe all groups."""
        del request
        shown = [describe_group(self._node, group) for group in self._node.groups.all()]
        return web.json_response({"groups": [one.model_dump() for one in shown]})

    async def get_group(self, request: web.Request) -> web.Response:
        """Describe one group."""
        return self._group(self._node.find_group(request.match_info["who"]))

    async def patch_group(self, request: web.Request) -> web.Response:
        """Change the limits of a group, on every GPU that it uses."""
        changes = parse_body(await request.read())
        group = self._node.find_group(request.match_info["who"])
        checked = ClientLimits().changed(changes)
        self._check_orders(group, changes)
        wanted = {name: getattr(checked, name) for name in changes}
        self._node.limits.change(group, wanted, _caller(request))
        return self._group(group)

    async def park_group(self, request: web.Request) -> web.Response:
        """Park a group, on every GPU that it uses."""
        group = self._node.find_group(request.match_info["who"])
        park(self._node.executor, self._node.pods, group, _caller(request))
        return self._group(group)

    async def unpark_group(self, request: web.Request) -> web.Response:
        """Unpark a group."""
        group = self._node.find_group(request.match_info["who"])
        unpark(self._node.executor, self._node.pods, group, _caller(request))
        return self._group(group)

    async def journal(self, request: web.Request) -> web.Response:
        """Give the journal so far."""
        del request
        text = "".join(f"{line}\n" for line in self._core.journal.lines())
        return web.Response(text=text, content_type="application/x-ndjson")

    async def trace(self, request: web.Request) -> web.StreamResponse:
        """Stream the events from now on."""
        return await self.traces.serve(request, None)

    async def openapi(self, request: web.Request) -> web.Response:
        """Describe this API."""
        # As below: it is rarely requested.
        from nvshare.daemon.api.openapi import describe_api

        return web.json_response(describe_api(request.app))

    async def metrics(self, request: web.Request) -> web.Response:
        """Describe the node for Prometheus."""
        # Prometheus keeps the past itself.
        return await self.expose(request, partial(self.snapshot, past=False))

    async def expose(
        self, request: web.Request, snapshot: Callable[[], NodeStatus]
    ) -> web.Response:
        """Write a snapshot in Prometheus's format."""
        # Most daemons are never scraped, and `nvshare run` waits for the daemon that it starts.
        from nvshare.telemetry.exporter import Exposition, choose_content_type

        content_type = choose_content_type(request.headers.get("Accept", ""))
        async with self._exposing:
            self._exposition = self._exposition or Exposition()
            body = await _written(self._exposition.texts(snapshot(), content_type))
        response = web.Response(body=body, headers={"Content-Type": content_type})
        response.force_close()
        return response

    def _gpus(self, request: web.Request) -> list[Gpu]:
        name = request.match_info["gpu"]
        gpus = self._node.gpus.find(name)
        if not gpus:
            known = ", ".join(f"{gpu.index} ({gpu.uuid})" for gpu in self._node.gpus.all())
            raise BadInputError(
                f'there is no GPU "{name}"', why=f"the GPUs are {known}", do="name one of them"
            )
        return gpus

    def _check_orders(self, group: Group, changes: dict[str, Any]) -> None:
        orders = self._node.pods.orders(group.identity).orders
        for field in changes:
            if getattr(orders, field) is not None:
                raise BadInputError(
                    f"{field} of this program is set by an annotation of its pod",
                    why=f"the annotations of the pod {self._node.pods.name(group.identity)} take "
                    "precedence over changes made here",
                    do="change the annotation, with kubectl annotate or `kubectl nvshare limit`",
                )

    def _devices(self, gpus: list[Gpu]) -> web.Response:
        shown = [describe_gpu(self._node, gpu).model_dump() for gpu in gpus]
        return web.json_response({"devices": shown})

    def _group(self, group: Group) -> web.Response:
        return web.json_response({"group": describe_group(self._node, group).model_dump()})


async def _written(texts: Iterator[bytes]) -> bytes:
    """Join the pieces, and let the event loop run now and then: clients wait for their turns.

    Not in a thread: its processor would have to fetch everything from the cache of this one, and
    that costs twice as much as the writing.
    """
    written: list[bytes] = []
    began = time.monotonic()
    for text in texts:
        written.append(text)
        if time.monotonic() - began > _AT_ONCE:
            await asyncio.sleep(0)
            began = time.monotonic()
    return b"".join(written)


def _caller(request: web.Request) -> str:
    """Return the peer of a request as the kernel knows it, for the log."""
    sock = request.transport.get_extra_info("socket") if request.transport else None
    if sock is None or sock.family != socket.AF_UNIX:
        return "an unknown user"
    try:
        who = identify(sock)
    except OSError:
        # Without descriptors the name of the program cannot be read. The request is served all the
        # same: it may be the one that frees some.
        pid, uid, _ = peer(sock)
        return f"{user_name(uid)} (uid {uid}), pid {pid}"
    return f"{user_name(who.uid)} (uid {who.uid}), {who.program} (pid {who.pid})"


@web.middleware
async def explain(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn an error for users into a response that the command line can show."""
    try:
        return await handler(request)
    except BadInputError as error:
        return problem(error.what, error.why, error.do)
    except ValidationError as error:
        return problem("; ".join(describe(error)), None, "see docs/daemon.md for every field")
    except web.HTTPNotFound:
        return problem(
            f"this daemon has no {request.path}",
            None,
            "use a command line of the same version as the daemon",
        )


def problem(what: str, why: str | None, do: str | None, status: int = 400) -> web.Response:
    """Return the response for an error that users see."""
    return web.json_response({"error": {"what": what, "why": why, "do": do}}, status=status)
