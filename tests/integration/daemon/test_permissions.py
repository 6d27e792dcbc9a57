"""Another user's process gets in only as far as the modes of the sockets say."""

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from nvshare.launch.place import CONTROL_NAME
from nvshare.wire.frames import SOCKET_NAME

from .conftest import Daemon, StartDaemon

NOBODY = 65534

# As another user: connect, and say what came of it.
PROBE = """
import os, socket, sys
os.setgroups([])
os.setgid(int(sys.argv[1]))
os.setuid(65534)
for name in ("nvshare.sock", "control.sock"):
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.connect(sys.argv[2] + "/" + name)
        print("open")
    except PermissionError:
        print("denied")
"""

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")


def probe(daemon: Daemon, group: int = NOBODY) -> list[str]:
    # The folders above belong to this test alone; they must not be what stops the other user.
    for folder in daemon.folder.parents:
        if not folder.is_relative_to(tempfile.gettempdir()) or folder.samefile(
            tempfile.gettempdir()
        ):
            break
        folder.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(group), str(daemon.folder)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.split()


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return f"--config={path}"


def test_nobody_else_by_default(daemon: Daemon) -> None:
    assert probe(daemon) == ["denied", "denied"]
    # Each of these would do; neither relies on the other.
    assert stat.S_IMODE(daemon.folder.stat().st_mode) == 0o700
    sockets = [daemon.folder / name for name in (SOCKET_NAME, CONTROL_NAME)]
    assert [stat.S_IMODE(path.stat().st_mode) for path in sockets] == [0o600, 0o600]


def test_programs_of_everybody(start_daemon: StartDaemon, tmp_path: Path) -> None:
    daemon = start_daemon(write(tmp_path / "config.toml", 'socket_mode = "0666"\n'))
    assert probe(daemon) == ["open", "denied"]


def test_a_group(start_daemon: StartDaemon, tmp_path: Path) -> None:
    text = 'socket_mode = "0660"\ncontrol_mode = "0660"\nsocket_group = "users"\n'
    daemon = start_daemon(write(tmp_path / "config.toml", text))
    assert probe(daemon) == ["denied", "denied"]
    assert probe(daemon, group=100) == ["open", "open"]
