import socket
from pathlib import Path

import pytest

from nvshare.daemon.sockets import sdnotify


def test_nobody_listens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    assert not sdnotify.notify("READY=1")
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))
    assert not sdnotify.notify("READY=1")


@pytest.mark.parametrize("name", ["{folder}/notify", "@nvshare-test-{folder}"])
def test_what_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    address = name.format(folder=tmp_path)
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(address.replace("@", "\0", 1))
        sdnotify.ready("2 GPUs")
        assert sock.recv(4096) == b"READY=1\nSTATUS=2 GPUs"
        sdnotify.reloading()
        assert sock.recv(4096).startswith(b"RELOADING=1\nMONOTONIC_USEC=")
        sdnotify.stopping()
        assert sock.recv(4096) == b"STOPPING=1"
