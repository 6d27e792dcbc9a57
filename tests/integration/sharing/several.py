"""A machine with one T4 that several users can reach."""

import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.emulated_node import Node, create
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.workload import workload_command
from nvshare.launch.private import LOCK, private_folder

from ..users import as_user, environment_of

if TYPE_CHECKING:
    from subprocess import Popen

NVSHARE = (sys.executable, "-m", "nvshare")
# Prints the time before and after: the start of Python is no part of it.
TIMED = ("sh", "-c", 'date +%s.%N; "$@"; date +%s.%N', "sh")
_PATIENCE = 20.0


class Machine:
    """A machine with one T4 that several users can reach."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.groups: dict[int, tuple[int, ...]] = {}
        node.folder.chmod(0o1777)
        state = node.folder / "state"
        state.touch()
        state.chmod(0o666)

    def start(self, uid: int, *command: str, **variables: str) -> "Popen[str]":
        """Start `nvshare COMMAND…` as a user."""
        return self.become(uid, *NVSHARE, *command, **variables)

    def become(self, uid: int, *command: str, **variables: str) -> "Popen[str]":
        """Start a command as a user."""
        own = environment_of(uid)
        return subprocess.Popen(
            [*as_user(uid, *self.groups.get(uid, ())), *command],
            env={**own, **self.node.environment(library_folder(), own), **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
        )

    def work(self, uid: int, **variables: str) -> "Popen[str]":
        """Start 12 GB of work under the daemon."""
        workload = workload_command("pytorch-add", "--iterations", "2500")
        return self.start(uid, "run", "--", *TIMED, *workload, **variables)

    @property
    def lock(self) -> Path:
        """The file that the daemon has written its pid to."""
        return private_folder(self.node.folder / "daemon", {}) / LOCK

    def end_daemon(self) -> None:
        """End the daemon, if there is one, and wait until it has left its folders."""
        lock = self.lock
        if lock.exists():
            pid = os.pidfd_open(int(lock.read_text()))
            signal.pidfd_send_signal(pid, signal.SIGTERM)
            assert select.select([pid], [], [], _PATIENCE)[0]
            os.close(pid)


@contextmanager
def machine_for_all(name: str, speed: float) -> Iterator[Machine]:
    """Make one; it is removed afterwards, with its daemon."""
    # In memory, like all nodes, but where all users can go.
    root = node_root().parent / f"nvshare-test-{os.getpid()}-{name}"
    root.mkdir(mode=0o755)
    machine = Machine(create(root, "lab", Settings(speed=speed, data="off"), parse_gpus("1xt4")))
    try:
        yield machine
    finally:
        machine.end_daemon()
        shutil.rmtree(root)
