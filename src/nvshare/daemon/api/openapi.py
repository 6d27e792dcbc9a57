"""The HTTP API as an OpenAPI document, made of the routes that a socket serves and their models.

It describes requests and responses for tools; docs/daemon.md says the same for users. A route needs
a row in the table below: a test compares.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

import nvshare
from nvshare.daemon.api.traces import LONGEST
from nvshare.settings import ClientLimits, DeviceSettings, NodeSettings
from nvshare.telemetry.snapshot import DeviceStatus, GroupStatus, NodeStatus

JSON = "application/json"
LINES = "application/x-ndjson"
_REFERENCE = "#/components/schemas/{model}"


class Health(BaseModel):
    """The daemon is alive."""

    status: str
    version: str


class NodeAnswer(BaseModel):
    """Settings of the whole node."""

    settings: NodeSettings


class DevicesAnswer(BaseModel):
    """Some GPUs."""

    devices: list[DeviceStatus]


class GroupAnswer(BaseModel):
    """One group."""

    group: GroupStatus


class GroupsAnswer(BaseModel):
    """All groups."""

    groups: list[GroupStatus]


class SharedGpu(BaseModel):
    """A GPU that the daemon shares."""

    index: int
    uuid: str


class DaemonAnswer(BaseModel):
    """Who the daemon is."""

    version: str
    pid: int
    folder: str
    gpus: list[SharedGpu]


class Mistake(BaseModel):
    """What is wrong, why, and what to do."""

    what: str
    why: str | None
    do: str | None


class Problem(BaseModel):
    """An error that is meant for a person."""

    error: Mistake


@dataclass(frozen=True)
class _Operation:
    """What a route takes and gives; ``content`` names what is no JSON."""

    gives: type[BaseModel] | None = None
    takes: type[BaseModel] | None = None
    content: str = JSON
    query: Mapping[str, dict[str, Any]] | None = None


_SECONDS = {"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST, "default": 30}

OPERATIONS: Mapping[tuple[str, str], _Operation] = {
    ("GET", "/v1/openapi.json"): _Operation(),
    ("GET", "/v1/health"): _Operation(Health),
    ("GET", "/v1/status"): _Operation(NodeStatus),
    ("GET", "/v1/daemon"): _Operation(DaemonAnswer),
    ("GET", "/v1/node"): _Operation(NodeAnswer),
    ("PATCH", "/v1/node"): _Operation(NodeAnswer, NodeSettings),
    ("GET", "/v1/devices/{gpu}"): _Operation(DevicesAnswer),
    ("PATCH", "/v1/devices/{gpu}"): _Operation(DevicesAnswer, DeviceSettings),
    ("GET", "/v1/groups"): _Operation(GroupsAnswer),
    ("GET", "/v1/groups/{who}"): _Operation(GroupAnswer),
    ("PATCH", "/v1/groups/{who}"): _Operation(GroupAnswer, ClientLimits),
    ("POST", "/v1/groups/{who}/park"): _Operation(GroupAnswer),
    ("POST", "/v1/groups/{who}/unpark"): _Operation(GroupAnswer),
    ("GET", "/v1/journal"): _Operation(content=LINES),
    ("GET", "/v1/trace"): _Operation(content=LINES, query={"seconds": _SECONDS}),
    ("GET", "/metrics"): _Operation(content="text/plain"),
}

_PARAMETERS = {
    "gpu": 'A GPU: its index, its UUID, the first 8 or more characters of that, or "all".',
    "who": "A group: an id, a pid, a program, a pod or a container.",
}


def routes_of(app: web.Application) -> "Iterable[tuple[str, str, web.AbstractRoute]]":
    """Return method and path of all routes."""
    for route in app.router.routes():
        path = route.resource.canonical if route.resource else ""
        # aiohttp answers HEAD wherever it answers GET.
        if route.method != "HEAD":
            yield route.method, path, route


def describe_api(app: web.Application) -> dict[str, Any]:
    """Return the document for the routes of one socket."""
    routes = list(routes_of(app))
    references, schemas = _schemas([OPERATIONS[method, path] for method, path, _ in routes])
    paths: dict[str, dict[str, Any]] = {}
    for method, path, route in routes:
        described = _describe(OPERATIONS[method, path], path, references)
        summary = (route.handler.__doc__ or "").partition("\n")[0]
        paths.setdefault(path, {})[method.lower()] = {"summary": summary, **described}
    return {
        "openapi": "3.1.0",
        "info": {"title": "nvshare", "version": nvshare.__version__},
        "paths": paths,
        "components": {"schemas": schemas},
    }


# A model, and whether it describes a request or a response.
_Key = tuple[Any, JsonSchemaMode]


def _schemas(operations: "list[_Operation]") -> "tuple[dict[_Key, Any], dict[str, Any]]":
    """Return the reference of each model, and the definitions."""
    models: dict[_Key, None] = {(Problem, "serialization"): None}
    for operation in operations:
        models |= {(operation.gives, "serialization"): None} if operation.gives else {}
        models |= {(operation.takes, "validation"): None} if operation.takes else {}
    references, all_of_it = models_json_schema(list(models), ref_template=_REFERENCE)
    return dict(references), all_of_it["$defs"]


def _describe(operation: _Operation, path: str, references: "dict[_Key, Any]") -> dict[str, Any]:
    schema: Any = {"type": "object"} if operation.content == JSON else {"type": "string"}
    if operation.gives:
        schema = references[operation.gives, "serialization"]
    problem = {JSON: {"schema": references[Problem, "serialization"]}}
    described: dict[str, Any] = {
        "responses": {
            "200": {"description": "As asked.", "content": {operation.content: {"schema": schema}}},
            "default": {
                "description": "The request is wrong, or not permitted.",
                "content": problem,
            },
        }
    }
    if parameters := [*_path_parameters(path), *_query_parameters(operation)]:
        described["parameters"] = parameters
    if operation.takes:
        body = {JSON: {"schema": references[operation.takes, "validation"]}}
        described["requestBody"] = {"required": True, "content": body}
    return described


def _path_parameters(path: str) -> "Iterable[dict[str, Any]]":
    for name in re.findall(r"{(\w+)}", path):
        schema = {"type": "string", "minLength": 1}
        about = {"description": _PARAMETERS[name], "schema": schema}
        yield {"name": name, "in": "path", "required": True, **about}


def _query_parameters(operation: _Operation) -> "Iterable[dict[str, Any]]":
    for name, schema in (operation.query or {}).items():
        yield {"name": name, "in": "query", "schema": schema}
