import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nvshare.cli import web as web_module
from nvshare.cli.web import DaemonSource
from nvshare.errors import BadInputError

Call = Callable[..., Result]


@pytest.fixture(autouse=True)
def nothing_is_served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The command ends where it would begin to serve; and there is no daemon."""

    async def serve(*_: object) -> None:
        pass

    monkeypatch.setattr(web_module, "_serve", serve)
    monkeypatch.setenv("NVSHARE_SOCKET_DIR", str(tmp_path / "nobody"))


def test_the_url_has_the_token_and_nobody_else_does(call: Call) -> None:
    said = call("web", "--address", "127.0.0.1:0")
    assert said.exit_code == 0
    url, _, token = said.stdout.strip().partition("#")
    assert url.startswith("http://127.0.0.1:")
    assert len(token) >= 43
    assert token not in said.stderr
    assert call("web", "--address", "127.0.0.1:0").stdout != said.stdout


def test_a_token_that_is_kept_is_not_printed(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "token"
    said = call("web", "--address", "127.0.0.1:0", "--token-file", str(path))
    assert path.read_text().strip() not in said.output
    assert str(path) in said.stdout
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_it_says_that_there_is_no_daemon_yet(call: Call) -> None:
    assert (
        "there is nothing to show yet: no daemon is running"
        in call("web", "--address", "127.0.0.1:0").stderr
    )


def test_the_usual_port_may_be_taken_but_not_one_that_was_named(call: Call) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        said = call("web", "--address", address)
        assert said.exit_code == 1
        assert "the page cannot be served" in said.stderr
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(web_module, "_ADDRESS", address)
            said = call("web")
    assert said.exit_code == 0
    assert address not in said.stdout


def test_an_address_that_others_reach_is_warned_of(call: Call) -> None:
    assert "not encrypted" in call("web", "--address", "0.0.0.0:0").stderr
    assert "not encrypted" not in call("web", "--address", "127.0.0.1:0").stderr


@pytest.mark.parametrize(
    "options",
    [("--address", "here"), ("--peers", "here"), ("--peers", ":9465"), ("--peers", "a:0")],
)
def test_what_is_no_address(call: Call, options: tuple[str, str]) -> None:
    assert call("web", *options).exit_code == 2


def test_changing_follows_from_the_control_socket(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NVSHARE_SOCKET_DIR", str(tmp_path))
    assert not DaemonSource(read_only=False).may_change()
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(tmp_path / "control.sock"))
        assert DaemonSource(read_only=False).may_change()
        assert not DaemonSource(read_only=True).may_change()
        if os.getuid():
            (tmp_path / "control.sock").chmod(0)
            assert not DaemonSource(read_only=False).may_change()


def test_who_may_only_look_changes_nothing() -> None:
    with pytest.raises(BadInputError, match="nothing can be changed from this page"):
        DaemonSource(read_only=True).change_limits(1, {"priority": "low"})
