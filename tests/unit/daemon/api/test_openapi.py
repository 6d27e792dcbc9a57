"""openapi.py: every route is in the document, and everything in it exists."""

import json
from typing import Any, cast

import pytest
from aiohttp import web

from nvshare.daemon.api.control import Control
from nvshare.daemon.api.openapi import OPERATIONS, describe_api, routes_of
from nvshare.daemon.api.read_only import ReadOnlyApi

# Neither has a node: routes need none until a request comes.
CONTROL = Control.__new__(Control)
CONTROL.traces = cast(Any, None)
READ_ONLY = ReadOnlyApi.__new__(ReadOnlyApi)
READ_ONLY._control = CONTROL
APPS = {"control": CONTROL.application(), "look": READ_ONLY.application()}


def references(tree: Any) -> "set[str]":
    if isinstance(tree, dict):
        own = {tree["$ref"]} if isinstance(tree.get("$ref"), str) else set()
        return own.union(*map(references, tree.values()))
    return set().union(*map(references, tree)) if isinstance(tree, list) else set()


@pytest.mark.parametrize("app", APPS.values(), ids=APPS)
class TestDocument:
    def test_has_every_route(self, app: web.Application) -> None:
        served = {(method, path) for method, path, _ in routes_of(app)}
        document = describe_api(app)
        described = {(m.upper(), path) for path, of in document["paths"].items() for m in of}
        assert described == served

    def test_refers_to_what_there_is(self, app: web.Application) -> None:
        document = json.loads(json.dumps(describe_api(app)))
        names = {ref.removeprefix("#/components/schemas/") for ref in references(document)}
        assert names
        assert names <= set(document["components"]["schemas"])

    def test_says_what_each_route_does_and_takes(self, app: web.Application) -> None:
        for path, operations in describe_api(app)["paths"].items():
            for method, operation in operations.items():
                assert operation["summary"].endswith("."), (method, path)
                assert ("requestBody" in operation) == (method == "patch")
                named = {one["name"] for one in operation.get("parameters", ())}
                assert all(f"{{{name}}}" in path for name in named - {"seconds"})


def test_the_table_has_nothing_else() -> None:
    served = {(method, path) for app in APPS.values() for method, path, _ in routes_of(app)}
    assert set(OPERATIONS) == served


def test_amounts_may_be_text() -> None:
    schemas = describe_api(APPS["control"])["components"]["schemas"]
    limit = json.dumps(schemas["ClientLimits-Input"]["properties"]["memory_limit"])
    assert "Gi" in limit or "[KMGTP]i" in limit
    assert '"null"' in limit
