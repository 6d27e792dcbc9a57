import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from nvshare.launch import holders
from nvshare.launch.holders import (
    Holder,
    TakenError,
    describe,
    find_holder,
    find_holders,
    hidden_daemon,
    lock_address,
    usable,
)

UUID = "GPU-00112233-4455-6677-8899-aabbccddee00"
ME = (os.getpid(), os.getuid())


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An emulated node of this test's own, apart from all other tests."""
    return {"NVSHARE_EMULATOR_NODE": str(tmp_path)}


def listen(address: str, answer: bytes | None = None) -> socket.socket:
    """Listen, and answer the first client, if at all."""
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(address)
    sock.listen()

    def serve() -> None:
        client, _ = sock.accept()
        with client:
            client.recv(4096)
            client.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + (answer or b""))

    if answer is not None:
        threading.Thread(target=serve, daemon=True).start()
    return sock


@pytest.fixture
def daemon(environ: dict[str, str], tmp_path: Path) -> Iterator[Path]:
    """A process that has the GPU and answers like a daemon: this one."""
    text = f'{{"folder": "{tmp_path}", "gpus": [{{"index": 3, "uuid": "{UUID}"}}]}}'
    with listen(lock_address(UUID, environ), text.encode()):
        yield tmp_path


def test_nobody_has_it(environ: dict[str, str]) -> None:
    assert find_holder(UUID, environ) is None
    assert find_holders(environ) == []


def test_who_has_it(environ: dict[str, str], daemon: Path) -> None:
    (holder,) = find_holders(environ)
    assert holder == Holder(UUID, *ME, lock_address(UUID, environ), 3, daemon)
    assert f"(pid {os.getpid()}, in {daemon}) has GPU 3" in describe([holder])


def test_a_lock_is_that_of_one_emulated_node(
    environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = {"NVSHARE_EMULATOR_NODE": str(tmp_path_factory.mktemp("node"))}
    addresses = {lock_address(UUID, one) for one in (environ, elsewhere, {})}
    assert len(addresses) == 3
    with listen(lock_address(UUID, elsewhere)):
        assert find_holders(environ) == []


def test_one_who_does_not_answer(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holders, "_SECONDS", 0.05)
    with listen(lock_address(UUID, environ)):
        (holder,) = find_holders(environ)
    # The kernel knows all the same.
    assert (holder.pid, holder.uid, holder.folder) == (*ME, None)
    assert "which does not answer" in describe([holder])
    assert usable([holder]) is None


@pytest.mark.parametrize(
    "answer",
    [
        b"no JSON",
        b"[]",
        b'{"gpus": 7}',
        b'{"gpus": []}',
        b"null",
        b'{"gpus": [], "folder": "/\\u001b[2J"}',
        b'{"gpus": [], "folder": 7}',
    ],
)
def test_one_who_talks_nonsense(environ: dict[str, str], answer: bytes) -> None:
    with listen(lock_address(UUID, environ), answer):
        holder = find_holder(UUID, environ)
    assert holder is not None
    assert (holder.index, holder.folder) == (None, None)


@pytest.mark.usefixtures("daemon")
def test_only_the_process_that_has_the_gpu_is_used(environ: dict[str, str], tmp_path: Path) -> None:
    (holder,) = find_holders(environ)
    assert usable([holder]) is None, "nobody listens there"
    with listen(str(tmp_path / "nvshare.sock")):
        assert usable([holder]) == holder
        # It names the sockets of another user.
        assert usable([Holder(UUID, 1, 0, "", 3, tmp_path)]) is None


def test_names_that_are_no_gpus_are_left_out(environ: dict[str, str], tmp_path: Path) -> None:
    listed = tmp_path / "unix"
    lines = [
        "Num RefCount Path",
        "0: 2 @nvshare/gpu/../../etc",
        "0: 2 @nvshare/gpu/GPU-1 2",
        "0: 2",
    ]
    listed.write_text("\n".join(lines))
    assert find_holders(environ, listed) == []


def test_who_may_not_share_is_told_what_to_do(tmp_path: Path) -> None:
    foreign = TakenError([Holder(UUID, 7, os.getuid() + 1, "", 0, tmp_path)])
    assert "nvshare service install" in str(foreign.do)
    own = TakenError([Holder(UUID, 7, os.getuid(), "", 0, tmp_path)])
    assert f"NVSHARE_SOCKET_DIR={tmp_path}" in str(own.do)
    assert "kill 7" in str(own.do)
    assert own.exit_code == 75


def test_the_machines_daemon_in_a_network_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]
) -> None:
    monkeypatch.setattr(holders, "SYSTEM", tmp_path)
    monkeypatch.setattr(holders, "find_holders", lambda _: [])
    assert hidden_daemon({}) is None
    with listen(str(tmp_path / "nvshare.sock")):
        found = hidden_daemon({})
        assert found is not None
        assert "in another container" in found.who
        assert hidden_daemon(environ) is None
        known = Holder(UUID, *ME, "", 0, tmp_path)
        monkeypatch.setattr(holders, "find_holders", lambda _: [known])
        assert hidden_daemon({}) is None
