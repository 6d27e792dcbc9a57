"""The control API as its OpenAPI document describes it, by Schemathesis against a real daemon.

Requests are made from the document: some that conform to it, and some that do not. The daemon
answers all of them as the document says, never with 500, and goes on. `make fuzz` makes more.
"""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from requests.adapters import HTTPAdapter
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool

from nvshare.launch.place import CONTROL_NAME

from .conftest import Daemon

URL = "http://localhost"
EXAMPLES = int(os.environ.get("NVSHARE_FUZZ_REQUESTS", "3"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
# Enough for one answer, on a busy machine.
SECONDS = 30


class UnixConnection(HTTPConnection):
    """A connection to a Unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(SECONDS)
        self.sock.connect(self._path)


class UnixPool(HTTPConnectionPool):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def _new_conn(self) -> Any:
        return UnixConnection(self._path)


class UnixAdapter(HTTPAdapter):
    """The transport for requests, instead of TCP."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._pool = UnixPool(str(path))

    def get_connection_with_tls_context(self, *_: Any, **__: Any) -> Any:
        return self._pool


@pytest.fixture
def session(daemon: Daemon) -> Iterator[requests.Session]:
    with requests.Session() as made:
        made.trust_env = False
        made.mount(URL, UnixAdapter(daemon.folder / CONTROL_NAME))
        yield made


def cases(operation: Any) -> "st.SearchStrategy[Any]":
    return st.one_of(
        *(operation.as_strategy(generation_mode=mode) for mode in list(GenerationMode))
    )


def bounded(case: Any) -> Any:
    """Shorten traces: one lasts as long as the request says."""
    try:
        if float(case.query["seconds"]) > 0:
            case.query["seconds"] = 0.01
    except (KeyError, TypeError, ValueError):
        if case.path == "/v1/trace" and "seconds" not in (case.query or {}):
            case.query = {"seconds": 0.01}
    return case


def test_answers_as_it_says(daemon: Daemon, session: requests.Session) -> None:
    client = daemon.connect()
    client.join(daemon.gpus[0])
    schema = schemathesis.openapi.from_dict(session.get(f"{URL}/v1/openapi.json").json())
    known = {"gpu": ["0", "all", daemon.gpus[1]], "who": [str(os.getpid())]}
    for result in schema.get_all_operations():
        operation = cast(Any, result).ok()

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(cases(operation), st.data())
        def ask(case: Any, data: st.DataObject) -> None:
            for name in case.path_parameters or {}:
                # Otherwise nearly all requests would be for things that do not exist.
                if data.draw(st.booleans()):
                    case.path_parameters[name] = data.draw(st.sampled_from(known[name]))
            response = bounded(case).call(base_url=URL, session=session, timeout=SECONDS)
            case.validate_response(response, checks=CHECKS)

        ask()
    assert session.get(f"{URL}/v1/health").json()["status"] == "ok"
