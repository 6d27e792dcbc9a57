"""A tenant opens and locks all it can in the mounted folder; a daemon starts all the same."""

import os
import subprocess
import sys

from nvshare.launch.private import LOCK, private_folder
from nvshare.wire.frames import HelloFlags

from .conftest import Daemon, StartDaemon

RESTARTS = 20 if os.environ.get("NVSHARE_EVERY_POSITION") == "1" else 3

# As root in a container, which passes for root: it opens and locks everything there in every way.
HOLD = """
import fcntl, os, pathlib, sys
held = []
for path in [pathlib.Path(sys.argv[1]), *pathlib.Path(sys.argv[1]).rglob("*")]:
    for flags in (os.O_RDWR, os.O_RDONLY):
        try:
            held.append(os.open(path, flags | os.O_NONBLOCK))
        except OSError:
            continue
        for lock in (fcntl.flock, fcntl.lockf):
            for kind in (fcntl.LOCK_EX, fcntl.LOCK_SH):
                try:
                    lock(held[-1], kind | fcntl.LOCK_NB)
                except OSError:
                    pass
print(len(held), flush=True)
sys.stdin.read()
"""


def hold(daemon: Daemon) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(daemon.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    # The folder itself, and nothing in it: sockets cannot be opened.
    assert process.stdout.readline() == "1\n"
    return process


def test_a_tenant_that_holds_everything_it_can_open_keeps_no_daemon_away(
    start_daemon: StartDaemon,
) -> None:
    daemon = start_daemon()
    sockets = {"nvshare.sock", "control.sock", "look.sock"}
    key = 0
    for _ in range(RESTARTS):
        client = daemon.connect()
        client.join(daemon.gpus[0], flags=HelloFlags.WANTS, slot_key=key)
        key = client.slot_key
        assert {path.name for path in daemon.folder.iterdir()} == sockets
        tenant = hold(daemon)
        try:
            daemon.stop()
            daemon.start()
            assert daemon.control.status().pid == daemon.pid
        finally:
            tenant.communicate(timeout=10)
        client.close()


def test_what_is_the_daemon_s_own_is_where_nobody_else_can_go(start_daemon: StartDaemon) -> None:
    daemon = start_daemon()
    private = private_folder(daemon.folder, {})
    assert private.stat().st_mode & 0o777 == 0o700
    assert daemon.folder not in private.parents
    assert (private / LOCK).read_text() == f"{daemon.pid}\n"
    with daemon.connect() as client:
        client.join(daemon.gpus[0])
        # It has written the files by the time it answers this request.
        assert len(daemon.control.status().clients) == 1
        assert (private / "in-use").exists()
        assert len(list((private / "groups").glob("*.page"))) == 1
