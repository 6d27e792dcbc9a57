"""The control API: HTTP and JSON on a Unix socket, for everything that people use.

    GET   /v1/health                 is it alive, and which version
    GET   /v1/status                 everything (nvshare.telemetry.snapshot.NodeStatus)
    GET   /v1/node                   settings of the whole node
    PATCH /v1/node                   change them
    GET   /v1/devices/{gpu}          settings; gpu is an index, a UUID or the beginning of one
    PATCH /v1/devices/{gpu}          change settings; gpu may be "all"
    GET   /v1/clients/{client}       limits; client is a pid, or an id such as #3 (written %233)
    PATCH /v1/clients/{client}       change limits
    GET   /v1/story                  the story so far, as JSON lines

Who may connect to the socket may do all of this; its mode and group are the permissions.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from pydantic import ValidationError

import nvshare
from nvshare.core.node import Core
from nvshare.daemon.devices import Gpu
from nvshare.daemon.node import Node
from nvshare.daemon.session import Session
from nvshare.daemon.status import describe_client, describe_gpu, describe_node
from nvshare.errors import BadInputError
from nvshare.telemetry.settings import ClientLimits
from nvshare.validation import describe

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Control:
    """The handlers. They read and change the node, between two turns of the event loop."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._started = node.now()

    @property
    def _core(self) -> Core:
        return self._node.core

    def application(self) -> web.Application:
        """Return what a site serves."""
        app = web.Application(middlewares=[_explain])
        app.add_routes(
            [
                web.get("/v1/health", self.health),
                web.get("/v1/status", self.status),
                web.get("/v1/node", self.get_node),
                web.patch("/v1/node", self.patch_node),
                web.get("/v1/devices/{gpu}", self.get_device),
                web.patch("/v1/devices/{gpu}", self.patch_device),
                web.get("/v1/clients/{client}", self.get_client),
                web.patch("/v1/clients/{client}", self.patch_client),
                web.get("/v1/story", self.story),
            ]
        )
        return app

    async def health(self, request: web.Request) -> web.Response:
        """Say that all is well."""
        del request
        return web.json_response({"status": "ok", "version": nvshare.__version__})

    async def status(self, request: web.Request) -> web.Response:
        """Describe the node."""
        del request
        status = describe_node(self._node, self._started)
        return web.json_response(text=status.model_dump_json())

    async def get_node(self, request: web.Request) -> web.Response:
        """Give the settings of the node."""
        del request
        return web.json_response({"settings": self._node.node_settings.model_dump()})

    async def patch_node(self, request: web.Request) -> web.Response:
        """Change settings of the node."""
        self._node.change_node(self._node.node_settings.changed(await _body(request)))
        return await self.get_node(request)

    async def get_device(self, request: web.Request) -> web.Response:
        """Describe some GPUs."""
        return self._devices(self._gpus(request))

    async def patch_device(self, request: web.Request) -> web.Response:
        """Change settings of some GPUs: of all of them, or, if one cannot, of none."""
        gpus = self._gpus(request)
        changes = await _body(request)
        new = [self._node.settings[gpu.uuid].changed(changes) for gpu in gpus]
        for gpu, settings in zip(gpus, new, strict=True):
            self._node.change_settings(gpu, settings)
        return self._devices(gpus)

    async def get_client(self, request: web.Request) -> web.Response:
        """Describe the clients of a process."""
        return self._clients(self._sessions(request))

    async def patch_client(self, request: web.Request) -> web.Response:
        """Change the limits of a process, on every GPU that it uses."""
        changes = await _body(request)
        sessions = self._sessions(request)
        ClientLimits().changed(changes)
        for session in sessions:
            self._check_orders(session, changes)
        for group in {session.member.group for session in sessions if session.member}:
            self._node.change_limits(group, changes, "somebody")
        return self._clients(sessions)

    async def story(self, request: web.Request) -> web.Response:
        """Give the story so far."""
        del request
        text = "".join(f"{line}\n" for line in self._core.story.lines())
        return web.Response(text=text, content_type="application/x-ndjson")

    def _gpus(self, request: web.Request) -> list[Gpu]:
        name = request.match_info["gpu"]
        gpus = list(self._node.find_gpus(name))
        if not gpus:
            known = ", ".join(f"{gpu.index} ({gpu.uuid})" for gpu in self._node.gpus.values())
            raise BadInputError(
                f'there is no GPU "{name}"', why=f"the GPUs are {known}", do="name one of them"
            )
        return gpus

    def _sessions(self, request: web.Request) -> list[Session]:
        name = request.match_info["client"]
        sessions = list(self._node.find_members(name))
        if not sessions:
            raise BadInputError(
                f'no client has the pid "{name}"',
                why="it has ended, uses no GPU, or was not started with `nvshare run`",
                do="look at `nvshare ls`; an id is written with a #, as in #3",
            )
        return sessions

    def _check_orders(self, session: Session, changes: dict[str, Any]) -> None:
        orders = self._node.pods.orders(session.identity).orders
        for field in changes:
            if getattr(orders, field) is not None:
                raise BadInputError(
                    f"{field} of this program is set by its pod",
                    why=f"the pod is {self._node.pods.name(session.identity)}, and what it is "
                    "annotated with goes over what is set here",
                    do="change the annotation, with kubectl annotate or `kubectl nvshare limit`",
                )

    def _devices(self, gpus: list[Gpu]) -> web.Response:
        shown = [describe_gpu(self._node, gpu).model_dump() for gpu in gpus]
        return web.json_response({"devices": shown})

    def _clients(self, sessions: list[Session]) -> web.Response:
        shown = [
            describe_client(self._node, session, session.member).model_dump()
            for session in sessions
            if session.member is not None
        ]
        return web.json_response({"clients": shown})


async def _body(request: web.Request) -> dict[str, Any]:
    try:
        body = json.loads(await request.text())
    except ValueError as error:
        raise BadInputError("the body is not JSON", why=str(error)) from error
    if not isinstance(body, dict):
        raise BadInputError("the body is not a JSON object")
    return body


@web.middleware
async def _explain(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn an error that is meant for a person into one that the command line can show."""
    try:
        return await handler(request)
    except BadInputError as error:
        return _problem(error.what, error.why, error.do)
    except ValidationError as error:
        return _problem("; ".join(describe(error)), None, "see docs/daemon.md for every field")
    except web.HTTPNotFound:
        return _problem(f"there is no {request.path}", None, "use a command line of this version")


def _problem(what: str, why: str | None, do: str | None) -> web.Response:
    return web.json_response({"error": {"what": what, "why": why, "do": do}}, status=400)
