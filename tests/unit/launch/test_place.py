import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from nvshare.errors import NvshareError
from nvshare.launch import place
from nvshare.launch.place import (
    answers,
    candidates,
    check_node,
    control_socket,
    find_daemon,
    own_folder,
)
from nvshare.launch.start import find_or_start
from nvshare.launch.trust import is_trusted


@pytest.fixture
def user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getuid", lambda: 1000)


@pytest.mark.usefixtures("user")
@pytest.mark.parametrize(
    ("environ", "folders"),
    [
        ({}, ["/run/nvshare", "/tmp/nvshare-1000"]),
        ({"XDG_RUNTIME_DIR": "/run/user/1000"}, ["/run/nvshare", "/run/user/1000/nvshare"]),
        ({"NVSHARE_SOCKET_DIR": "/x", "XDG_RUNTIME_DIR": "/y"}, ["/x"]),
        ({"NVSHARE_EMULATOR_NODE": "/n", "XDG_RUNTIME_DIR": "/y"}, ["/n/daemon"]),
        ({"NVSHARE_EMULATOR_NODE": "/n", "NVSHARE_SOCKET_DIR": "/x"}, ["/x"]),
    ],
)
def test_where_a_user_looks(environ: dict[str, str], folders: list[str]) -> None:
    assert [str(folder) for folder in candidates(environ)] == folders
    assert str(own_folder(environ)) == folders[-1]


def test_where_root_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getuid", lambda: 0)
    assert candidates({"XDG_RUNTIME_DIR": "/run/user/0"}) == [Path("/run/nvshare")]


def test_a_relative_folder_is_made_absolute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert own_folder({"NVSHARE_SOCKET_DIR": "x"}) == tmp_path / "x"


def listen(path: Path) -> socket.socket:
    path.parent.mkdir(exist_ok=True)
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(str(path))
    sock.listen()
    return sock


def test_only_who_answers_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "SYSTEM", tmp_path / "system")
    monkeypatch.setattr(place, "own_folder", lambda _: tmp_path / "own")
    assert find_daemon({}) is None
    with listen(tmp_path / "system" / "nvshare.sock"):
        assert find_daemon({}) == tmp_path / "system"
    # Its socket is still there, and stale.
    with listen(tmp_path / "own" / "nvshare.sock"):
        assert find_daemon({}) == tmp_path / "own"
        (tmp_path / "system" / "nvshare.sock").unlink()
        with listen(tmp_path / "system" / "nvshare.sock"):
            # The daemon of the machine serves all users, and goes first.
            assert find_daemon({}) == tmp_path / "system"
    assert find_daemon({}) is None


def test_a_folder_of_somebody_else_is_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with listen(tmp_path / "nvshare.sock"):
        assert find_daemon({"NVSHARE_SOCKET_DIR": str(tmp_path)}) == tmp_path
        assert find_daemon({"NVSHARE_SOCKET_DIR": str(tmp_path / "link")}) is None
        monkeypatch.setattr("os.getuid", lambda: 4711)
        trusted = tmp_path.stat().st_uid == 0
        assert is_trusted(tmp_path) == trusted


def test_the_control_socket(tmp_path: Path) -> None:
    environ = {"NVSHARE_SOCKET_DIR": str(tmp_path)}
    assert control_socket(environ) == tmp_path / "control.sock"
    assert control_socket({**environ, "NVSHARE_CONTROL_DIR": "/c"}) == Path("/c/control.sock")


def test_a_socket_that_we_may_not_use_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_self: socket.socket, _address: str) -> None:
        raise PermissionError

    monkeypatch.setattr(socket.socket, "connect", refuse)
    with pytest.raises(NvshareError, match="you may not use the daemon"):
        answers(Path("/run/nvshare/nvshare.sock"))


def test_nothing_is_made_where_an_emulated_node_was(tmp_path: Path) -> None:
    environ = {"NVSHARE_EMULATOR_NODE": str(tmp_path / "lab")}
    with pytest.raises(NvshareError, match='the emulated node "lab" is gone'):
        find_or_start(environ)
    assert not (tmp_path / "lab").exists()
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "node.conf").touch()
    check_node(environ)
    check_node({})


def test_who_is_not_in_its_group_is_told_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grp.getgrgid", lambda _: SimpleNamespace(gr_name="gpu"))
    monkeypatch.setattr(place, "user_name", lambda _: "bob")
    path = tmp_path / "nvshare.sock"
    with listen(path):
        path.chmod(0o660)
        monkeypatch.setattr(Path, "stat", lambda _: SimpleNamespace(st_gid=7, st_mode=0o140660))
        error = place.not_allowed(path)
    assert "it is for the group gpu" in str(error.why)
    assert "sudo usermod -aG gpu bob" in str(error.do)
