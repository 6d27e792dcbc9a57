import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest


def probe(path: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "nvshare.kubernetes.probe", str(path)],
        capture_output=True,
        text=True,
        timeout=30,
    )


@pytest.mark.parametrize(("status", "code"), [("200 OK", 0), ("500 Internal Server Error", 1)])
def test_what_the_socket_says_is_the_exit_code(tmp_path: Path, status: str, code: int) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(f"HTTP/1.0 {status}\r\n\r\n".encode())

        thread = threading.Thread(target=answer)
        thread.start()
        assert probe(path).returncode == code
        thread.join()


def test_nobody_there(tmp_path: Path) -> None:
    done = probe(tmp_path / "s")
    assert done.returncode == 1
    assert "does not answer" in done.stderr
