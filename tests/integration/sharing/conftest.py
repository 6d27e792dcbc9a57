"""Real programs, the real interposer and the real daemon on an emulated node."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest

from nvshare.cli.control import Daemon
from nvshare.cli.lab.trial.realtime import ahead_of_others
from nvshare.errors import NvshareError
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.report import Account, Report, read_report
from nvshare.launch.place import control_socket, own_folder
from nvshare.launch.preload import Wishes, library, program_environment, without_preload
from nvshare.launch.private import make_private
from nvshare.launch.start import LOG
from nvshare.telemetry.snapshot import NodeStatus
from tests.integration.forked import Forked
from tests.integration.pauses import pauses
from tests.integration.readiness import Readiness

from ..building import ROOT
from ..interposer.conftest import GUEST_COMMAND, Guest

# Seconds for steps that take one or two on a machine with nothing else to do.
PATIENCE = 20.0

Seen = TypeVar("Seen")


class Sharing:
    """A node with a daemon, and programs under it."""

    def __init__(self, node: Node, stack: ExitStack, settings: Mapping[str, str]) -> None:
        self.node = node
        self._stack = stack
        self._running: list[subprocess.Popen[str]] = []
        own = node.environment(library_folder(), os.environ)
        # On a busy machine all programs wait long; only test_notices.py wants these notices.
        self._base = {**os.environ, **own, "NVSHARE_WAIT_NOTICE": "0", **settings}
        self._folder = own_folder(self._base)
        self.start_daemon()
        self._stack.callback(self._stop_daemon)

    def daemon(self) -> Daemon:
        """The daemon's control API."""
        return Daemon(control_socket(self._base))

    def kill_daemon(self) -> None:
        """Kill the daemon."""
        kill_and_wait(self.daemon().status().pid)

    def start_daemon(self) -> None:
        """Start a daemon, also in place of one that has died, where `nvshare run` would."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        log = make_private(self._folder, self._base) / LOG
        readiness = Readiness(self.node.folder / "notify")
        options = (f"--socket-dir={self._folder}", "--idle-exit=60")
        with closing(readiness):
            process = Forked(options, {**without_preload(self._base), **readiness.environ}, log)
            readiness.wait(process.pid, log)

    @contextmanager
    def daemon_of(self, version: str) -> Iterator[int]:
        """Start a daemon that imitates another version, in place of one that has died."""
        command = [sys.executable, "-m", "tests.chaos.other_version", version, "daemon"]
        folder = f"--socket-dir={self._folder}"
        environ = {**without_preload(self._base), "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen([*command, folder], env=environ, cwd="/")
        try:
            self._until(lambda: process, lambda _: self.is_answered(), PATIENCE)
            yield process.pid
        finally:
            process.kill()
            process.wait()

    def is_answered(self) -> bool:
        """Whether there is a daemon that answers."""
        try:
            self.daemon().status()
        except (NvshareError, OSError):
            return False
        return True

    def start(
        self,
        *command: str | Path,
        wishes: Wishes | None = None,
        **variables: str,
    ) -> "subprocess.Popen[str]":
        """Start a program under the daemon; it ends with the test, and not before."""
        base = {**self._base, **variables}
        environment: Mapping[str, str] = {
            **base,
            **program_environment(wishes or Wishes(), self._folder, library(), base),
        }
        process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._stack.callback(process.communicate)
        self._stack.callback(process.kill)
        self._running.append(process)
        return process

    def guest(self, wishes: Wishes | None = None, **variables: str) -> Guest:
        """Start a program that the test controls line by line."""
        return Guest(self.start(*GUEST_COMMAND, wishes=wishes, **variables))

    def kill(self, process: "subprocess.Popen[str]") -> None:
        """Kill a program."""
        self._running.remove(process)
        process.kill()

    def until_status(
        self, is_so: Callable[[NodeStatus], bool], seconds: float = PATIENCE
    ) -> NodeStatus:
        """Poll the daemon until the condition holds."""
        return self._until(lambda: self.daemon().status(), is_so, seconds)

    def until_report(self, is_so: Callable[[Report], bool], seconds: float = PATIENCE) -> Report:
        """Poll the node until the condition holds."""
        return self._until(lambda: read_report(self.node.folder), is_so, seconds)

    def account(self, pid: int) -> Account:
        """The node's report of a program on its first GPU."""
        process = read_report(self.node.folder).process(pid)
        assert process is not None
        return process.gpus[0]

    def _until(
        self, look: Callable[[], Seen], is_so: Callable[[Seen], bool], seconds: float
    ) -> Seen:
        deadline = time.monotonic() + seconds
        pause = pauses()
        while not is_so(seen := look()):
            for process in self._running:
                assert not process.poll(), process.communicate()
            assert time.monotonic() < deadline, seen
            time.sleep(next(pause))
        return seen

    def _stop_daemon(self) -> None:
        with suppress(NvshareError, ProcessLookupError):  # it may have ended by itself
            os.kill(self.daemon().status().pid, signal.SIGTERM)


def kill_and_wait(pid: int, how: signal.Signals = signal.SIGKILL) -> None:
    """End a process that is not our child, and return when its sockets are closed."""
    descriptor = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(descriptor, how)
        assert select.select([descriptor], [], [], 30)[0]
    finally:
        os.close(descriptor)


def short_turns(seconds: float) -> dict[str, Any]:
    """Settings for turns of this length, however long memory takes to come."""
    lab = dict.fromkeys(("turn_min", "turn_max", "slice_seconds"), seconds)
    return {"turn_seconds": seconds, "lab": lab}


@pytest.fixture
def ahead() -> Iterator[None]:
    """Run ahead of other processes on this machine, where the user is allowed to do that."""
    with ahead_of_others(2):
        yield


@pytest.fixture
def share(make_node: Callable[..., Node]) -> Iterator[Callable[..., Sharing]]:
    """Make nodes with a daemon. Its settings are variables, and so every daemon there has them."""
    with ExitStack() as stack:

        def make(*gpus: str, settings: Mapping[str, str] | None = None, **of_node: Any) -> Sharing:
            return Sharing(make_node(*gpus, **of_node), stack, settings or {})

        yield make
