"""Programs that page against each other: everything says so. Of those that take turns, nothing.

What is judged here is what a real GPU shows as well; only the pages are emulated.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from nvshare.lab.emulator.workload import workload_command
from nvshare.launch.place import CONTROL_NAME
from nvshare.telemetry.snapshot import ClientStatus, NodeStatus
from nvshare.telemetry.why import explain

from ..daemon.scraping import scrape
from .conftest import Sharing, short_turns

Share = Callable[..., Sharing]
GIB = 1 << 30
# For as long, programs that take turns are watched: several turns, and longer than it takes to be
# said to thrash.
WATCHED = 12.0


def start(sharing: Sharing) -> "subprocess.Popen[str]":
    """Start a program that uses 12 GB of the 14.3 GiB, again and again; and wait for its work."""
    process = sharing.start(*workload_command("pytorch-add", "--iterations", "1000000"))
    sharing.until_status(lambda now: any(_works(one, process.pid) for one in now.clients))
    return process


def _works(client: ClientStatus, pid: int) -> bool:
    return client.pid == pid and client.launches > 0


def thrashes(status: NodeStatus) -> bool:
    return status.devices[0].thrashing is not None


def nvshare(sharing: Sharing, *words: Any) -> str:
    """Run a command as a user does; return what it prints, in one line."""
    folder = str(sharing.daemon().path.parent)
    environ = {"NVSHARE_SOCKET_DIR": folder, "PATH": "/usr/bin:/bin", "COLUMNS": "200"}
    command = [sys.executable, "-m", "nvshare", *map(str, words)]
    return " ".join(subprocess.check_output(command, env=environ, text=True).split())


def test_two_that_run_at_the_same_time_and_do_not_fit(share: Share) -> None:
    sharing = share("1xt4", speed=20, data="off")
    first = start(sharing)
    sharing.daemon().change_devices("all", {"mode": "concurrent"})
    second = start(sharing)
    status = sharing.until_status(thrashes, seconds=60)

    (gpu,), ids = status.devices, tuple(sorted(one.id for one in status.clients))
    assert gpu.thrashing is not None
    assert gpu.thrashing.programs == ids
    assert gpu.thrashing.memory > 22 * GIB > gpu.thrashing.room == gpu.usable
    assert all(one.thrashes for one in status.clients)
    for one in status.clients:
        found = explain(status, one.id)
        assert found.main.cause == "thrashing"
        assert "no other program" not in " ".join(found.sentences())

    board = nvshare(sharing, "status")
    assert "thrashing for" in board
    assert "% busy" not in board
    for text in (board, nvshare(sharing, "why", first.pid)):
        assert f"(pid {first.pid}) and root/driver-add (pid {second.pid}) page against" in text
        assert "`nvshare set --gpu 0 mode=auto` lets them take turns." in text

    before = sharing.daemon().status()
    time.sleep(3.0)
    after = sharing.daemon().status()
    for old, new in zip(before.clients, after.clients, strict=True):
        gained = new.attribution.thrashing - old.attribution.thrashing
        assert gained > 0.95 * (new.attribution.total - old.attribution.total)

    metrics = scrape(sharing.node.folder / "daemon" / CONTROL_NAME)
    assert metrics.value("nvshare_gpu_thrashing_seconds") > 5
    assert metrics.values("nvshare_program_thrashing") == [1, 1]
    spent = metrics.values("nvshare_program_attributed_seconds_total", state="thrashing")
    assert min(spent) > 2

    said = nvshare(sharing, "park", second.pid)
    assert "leave the GPU as soon as its work in flight has ended" in said
    assert f"pid {second.pid} cannot give way yet" in said
    sharing.kill(second)
    sharing.until_status(lambda now: not thrashes(now) and now.clients[0].launches > 0)


def test_two_that_take_turns_never_thrash(share: Share) -> None:
    sharing = share("1xt4", speed=20, data="off")
    sharing.daemon().change_devices("all", short_turns(1.0))
    pids = [start(sharing).pid, start(sharing).pid]
    turns = sum(one.turns for one in sharing.daemon().status().clients)
    ends = time.monotonic() + WATCHED
    while time.monotonic() < ends:
        status = sharing.daemon().status()
        assert not thrashes(status)
        time.sleep(0.25)
    assert sum(one.turns for one in status.clients) > turns + 2
    assert {one.pid for one in status.clients} == set(pids)
    assert all(one.attribution.thrashing == 0 for one in status.clients)
