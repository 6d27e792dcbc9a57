"""Another user's process can do only what the modes of the sockets permit."""

import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nvshare.launch.place import CONTROL_NAME, LOOK_NAME
from nvshare.wire.places import SOCKET_NAME

from ..users import open_folder
from .conftest import Daemon, StartDaemon

NOBODY = 65534

# As another user: connect, and print the result.
PROBE = """
import os, socket, sys
os.setgroups([])
os.setgid(int(sys.argv[1]))
os.setuid(65534)
for name in ("nvshare.sock", "control.sock", "look.sock"):
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.connect(sys.argv[2] + "/" + name)
        print("open")
    except PermissionError:
        print("denied")
"""

pytestmark = pytest.mark.needs("root")


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """The folder of daemons, which other users can reach."""
    with open_folder() as folder:
        yield folder


def probe(daemon: Daemon, group: int = NOBODY) -> list[str]:
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


def test_others_may_only_look_by_default(daemon: Daemon) -> None:
    assert probe(daemon) == ["denied", "denied", "open"]
    # They cannot list the folder.
    assert stat.S_IMODE(daemon.folder.stat().st_mode) == 0o711
    sockets = [daemon.folder / name for name in (SOCKET_NAME, CONTROL_NAME, LOOK_NAME)]
    assert [stat.S_IMODE(path.stat().st_mode) for path in sockets] == [0o600, 0o600, 0o666]


def test_nobody_else_at_all(start_daemon: StartDaemon, tmp_path: Path) -> None:
    daemon = start_daemon(write(tmp_path / "config.toml", 'look_mode = "0600"\n'))
    assert probe(daemon) == ["denied", "denied", "denied"]
    # Each of these would be enough; neither relies on the other.
    assert stat.S_IMODE(daemon.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((daemon.folder / LOOK_NAME).stat().st_mode) == 0o600


def test_programs_of_everybody(start_daemon: StartDaemon, tmp_path: Path) -> None:
    daemon = start_daemon(write(tmp_path / "config.toml", 'socket_mode = "0666"\n'))
    assert probe(daemon) == ["open", "denied", "open"]


def test_a_group(start_daemon: StartDaemon, tmp_path: Path) -> None:
    modes = 'socket_mode = "0660"\ncontrol_mode = "0660"\nlook_mode = "0660"\n'
    daemon = start_daemon(write(tmp_path / "config.toml", f'{modes}socket_group = "users"\n'))
    assert probe(daemon) == ["denied", "denied", "denied"]
    assert probe(daemon, group=100) == ["open", "open", "open"]
