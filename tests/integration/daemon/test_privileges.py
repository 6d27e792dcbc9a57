"""A daemon of root with only the privileges that the systemd unit leaves it."""

import grp
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nvshare.wire.places import SOCKET_NAME

from ..users import ALICE, as_user, environment_of, open_folder
from .conftest import StartDaemon

pytestmark = pytest.mark.needs("root")

UNIT = Path(__file__).parents[3] / "deploy" / "systemd" / "nvshare.service"


def capabilities() -> str:
    (found,) = re.findall(r"^CapabilityBoundingSet=(.*)$", UNIT.read_text(), re.MULTILINE)
    return ",".join(["-all", *(f"+{name.removeprefix('CAP_').lower()}" for name in found.split())])


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """The folder of daemons, which other users can reach."""
    with open_folder() as folder:
        yield folder


def test_it_serves_a_group_and_knows_who_is_who(start_daemon: StartDaemon) -> None:
    users = grp.getgrnam("users").gr_gid
    daemon = start_daemon(
        prefix=(
            *("setpriv", f"--bounding-set={capabilities()}", "--inh-caps=-all"),
            *("sh", "-c", 'umask 0077; exec "$@"', "sh"),
        ),
        NVSHARE_SOCKET_MODE="0660",
        NVSHARE_SOCKET_GROUP="users",
    )
    status = Path(f"/proc/{daemon.pid}/status").read_text()
    assert re.search(r"^CapEff:\s*0000000000000001$", status, re.MULTILINE)
    assert (daemon.folder / SOCKET_NAME).stat().st_gid == users
    with daemon.connect() as client:
        client.join(daemon.gpus[0], memory_limit=1 << 30)
        (shown,) = daemon.control.status().clients
        assert (shown.pid, shown.uid) == (os.getpid(), 0)
        assert daemon.control.change_limits("1", {"memory_limit": 5}).unstored == ""
    look = "from nvshare.cli.control import Daemon; print(Daemon().status().pid)"
    done = subprocess.run(
        [*as_user(ALICE, users), sys.executable, "-c", look],
        env={**environment_of(ALICE), "NVSHARE_SOCKET_DIR": str(daemon.folder)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == f"{daemon.pid}\n", done.stderr
