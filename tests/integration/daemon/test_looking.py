"""Every user may read the daemon's status, and reading changes nothing."""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nvshare.daemon.api.control import Control
from nvshare.launch.holders import find_holders
from nvshare.launch.place import CONTROL_NAME, LOOK_NAME
from nvshare.launch.unix_http import UnixConnection
from nvshare.telemetry.hiding import HIDDEN

from ..users import BOB, as_user, environment_of, open_folder
from .conftest import Daemon, StartDaemon

GIB = 1 << 30
# Every route of the control API, from the table that it is served from.
ROUTES = sorted(
    {
        (route.method, route.resource.canonical)
        for route in Control.application(Control.__new__(Control)).router.routes()
        if route.resource is not None
    }
)
LOOKS = [path for method, path in ROUTES if method == "GET" and path != "/v1/journal"]
CHANGES = [route for route in ROUTES if route[0] not in ("GET", "HEAD")]
BODIES: dict[str, Any] = {"/v1/node": {"host_memory": "1Gi"}, "/v1/devices/{gpu}": {"mode": "off"}}


def ask(address: str, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
    connection = UnixConnection(address, 10)
    try:
        connection.request(method, path, None if body is None else json.dumps(body))
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def named(path: str) -> str:
    named = path.replace("{gpu}", "all").replace("{who}", str(os.getpid()))
    return f"{named}?seconds=0.1" if path == "/v1/trace" else named


def look_address(daemon: Daemon) -> str:
    return str(daemon.folder / LOOK_NAME)


def lock_address(daemon: Daemon) -> str:
    return find_holders(daemon.environ)[0].address


Address = Callable[[Daemon], str]
EVERY_ADDRESS = pytest.mark.parametrize("address", [look_address, lock_address])


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """The folder of daemons, which other users can reach."""
    with open_folder() as folder:
        yield folder


@pytest.fixture
def used(daemon: Daemon) -> Daemon:
    """A daemon with a program, which is this process."""
    daemon.connect().join(daemon.gpus[0], allocated=GIB)
    return daemon


def test_there_is_something_to_refuse() -> None:
    assert ("PATCH", "/v1/node") in CHANGES
    assert ("POST", "/v1/groups/{who}/park") in CHANGES
    assert len(LOOKS) >= 7


@EVERY_ADDRESS
def test_everything_can_be_looked_at(used: Daemon, address: Address) -> None:
    for path in LOOKS:
        status, body = ask(address(used), "GET", named(path))
        assert (status, bool(body)) == (200, True), path


@EVERY_ADDRESS
def test_nothing_can_be_changed(used: Daemon, address: Address) -> None:
    def state() -> object:
        now = used.control.status()
        return now.settings, [gpu.settings for gpu in now.devices], used.control.groups()

    before = state()
    for path in {path for _, path in ROUTES}:
        for method in ("PATCH", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
            status, body = ask(address(used), method, named(path), BODIES.get(path, {}))
            assert status == 403, (method, path)
            error = json.loads(body)["error"]
            assert error["what"] == "this socket is read-only"
            assert str(used.folder / CONTROL_NAME) in error["why"]
            assert "control_mode" in error["do"]
    assert state() == before


def test_where_not_everybody_may_look_the_lock_tells_only_whose_it_is(
    start_daemon: StartDaemon, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('look_mode = "0660"\n')
    daemon = start_daemon(f"--config={config}")
    (holder, _) = find_holders(daemon.environ)
    assert (holder.pid, holder.folder) == (daemon.pid, daemon.folder)
    for path in LOOKS:
        assert ask(holder.address, "GET", named(path))[0] == 403, path


@pytest.mark.needs("root")
class TestAnotherUser:
    """The command line of a user other than the daemon's."""

    @staticmethod
    def nvshare(daemon: Daemon, *command: str) -> "subprocess.CompletedProcess[str]":
        environ = {
            **daemon.environ,
            **environment_of(BOB),
            "NVSHARE_SOCKET_DIR": str(daemon.folder),
        }
        return subprocess.run(
            [*as_user(BOB), sys.executable, "-m", "nvshare", *command],
            env={**environ, "COLUMNS": "200"},
            cwd="/",
            capture_output=True,
            text=True,
            timeout=60,
        )

    def test_looks(self, used: Daemon) -> None:
        done = self.nvshare(used, "status")
        assert done.returncode == 0, done.stderr
        assert "root" in done.stdout
        assert self.nvshare(used, "ls").stdout.split("\t")[2] == "root"

    @pytest.mark.parametrize(
        "command", [("set", "mode=serial"), ("limit", "1", "--memory", "1Gi"), ("park", "1")]
    )
    def test_is_told_what_changing_takes(self, used: Daemon, command: tuple[str, ...]) -> None:
        done = self.nvshare(used, *command)
        assert done.returncode == 1
        assert "you may look at the daemon, but not change anything" in done.stderr
        assert "control_mode and socket_group" in done.stderr

    def test_is_told_what_looking_takes(self, start_daemon: StartDaemon, tmp_path: Path) -> None:
        config = tmp_path / "config.toml"
        config.write_text('look_mode = "0600"\n')
        done = self.nvshare(start_daemon(f"--config={config}"), "status")
        assert done.returncode == 1
        assert "you may not look at the daemon" in done.stderr
        assert "look_mode" in done.stderr

    def test_does_not_see_who_hides(self, start_daemon: StartDaemon, tmp_path: Path) -> None:
        config = tmp_path / "config.toml"
        config.write_text("hide_others = true\n")
        daemon = start_daemon(f"--config={config}")
        daemon.connect().join(daemon.gpus[0], allocated=GIB)
        (client,) = json.loads(self.nvshare(daemon, "status", "--json").stdout)["clients"]
        assert (client["program"], client["user"], client["pid"]) == (HIDDEN, HIDDEN, 0)
        assert client["allocated"] == GIB
        # Root may, on either socket.
        status, body = ask(look_address(daemon), "GET", "/v1/status")
        assert status == http.client.OK
        assert json.loads(body)["clients"][0]["pid"] == os.getpid()
