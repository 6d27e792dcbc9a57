"""`nvshare web` has the rights of the user who starts it: with a real daemon, without a browser."""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ..users import BOB, as_user, environment_of, open_folder
from .conftest import SECONDS, Daemon

WEB = (sys.executable, "-m", "nvshare", "web", "--address=127.0.0.1:0")
ORDER = {"program": 1, "changes": {"priority": "low"}}


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """The folder of daemons, which other users can reach."""
    with open_folder() as folder:
        yield folder


@contextmanager
def web(
    folder: Path,
    *,
    uid: int | None = None,
    options: tuple[str, ...] = (),
    secret: Path | None = None,
) -> Iterator[tuple[str, str]]:
    """Serve the page of a daemon; give its URL and its token."""
    base = dict(os.environ) if uid is None else environment_of(uid)
    process = subprocess.Popen(
        [*([] if uid is None else as_user(uid)), *WEB, *options],
        env={**base, "NVSHARE_SOCKET_DIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        url, _, token = process.stdout.readline().strip().partition("#")
        if secret is not None:
            # The output of a service goes into a log, so the token is not printed there.
            url, token = url.partition(" ")[0], secret.read_text().strip()
        yield url, token
        # Other users can read neither, but process lists and core dumps contain both.
        for name in ("cmdline", "environ"):
            assert token not in Path(f"/proc/{process.pid}/{name}").read_text()
    finally:
        process.terminate()
        said, errors = process.communicate(timeout=SECONDS)
    assert (process.returncode, said, errors) == (0, "", "")


def ask(url: str, path: str, token: str | None, body: Any = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(
        url.removeprefix("http://").rstrip("/"), timeout=SECONDS
    )
    headers = {"Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    try:
        method = "GET" if body is None else "POST"
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_who_may_change_changes_and_only_with_the_token(daemon: Daemon) -> None:
    daemon.connect().join(daemon.gpus[0])
    (client,) = daemon.control.status().clients
    order = {**ORDER, "program": client.id}
    with web(daemon.folder) as (url, token):
        assert ask(url, "/v1/limits", None, order)[0] == 401
        assert ask(url, "/v1/view", None)[0] == 401
        assert daemon.control.status().clients[0].limits.priority is None
        _, view = ask(url, "/v1/view", token)
        (node,) = view["nodes"]
        assert node["may_change"]
        assert [one["pid"] for one in node["status"]["clients"]] == [os.getpid()]
        assert ask(url, "/v1/limits", token, order)[0] == 200
        park = {"program": client.id, "parked": True}
        assert ask(url, "/v1/park", None, park)[0] == 401
        assert ask(url, "/v1/park", token, {**park, "parked": "yes"})[0] == 400
        assert not daemon.control.status().groups[0].parked
        assert ask(url, "/v1/park", token, park)[1]["group"]["parked"]
        assert not ask(url, "/v1/park", token, {**park, "parked": False})[1]["group"]["parked"]
    assert daemon.control.status().clients[0].limits.priority == "low"
    # The daemon's log names the user, and not the token.
    assert f"(uid {os.getuid()})" in daemon.log
    assert token not in daemon.log


@pytest.mark.needs("root")
def test_somebody_else_looks_and_changes_nothing(daemon: Daemon) -> None:
    daemon.connect().join(daemon.gpus[0])
    with web(daemon.folder, uid=BOB) as (url, token):
        _, view = ask(url, "/v1/view", token)
        (node,) = view["nodes"]
        assert not node["may_change"]
        assert len(node["status"]["clients"]) == 1
        status, said = ask(url, "/v1/limits", token, ORDER)
        assert status == 502
        assert said["error"]["what"] == "you may look at the daemon, but not change anything"
    assert daemon.control.status().clients[0].limits.priority is None


def test_a_token_that_is_kept_in_a_file_is_nowhere_else(daemon: Daemon, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("s" * 43 + "\n")
    secret.chmod(0o600)
    with web(daemon.folder, options=(f"--token-file={secret}",), secret=secret) as (url, token):
        assert token == "s" * 43
        assert token not in url
        assert ask(url, "/v1/view", token)[0] == 200
        status, said = ask(url, "/v1/view", token[:-1] + "x")
        assert status == 401
        assert token[:-1] not in json.dumps(said)
        assert token not in json.dumps(ask(url, "/v1/view", token)[1])
    assert token not in daemon.control.status().model_dump_json()
    assert token not in daemon.log
