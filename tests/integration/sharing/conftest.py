"""Real programs, the real interposer and the real daemon on an emulated node."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from nvshare.cli.control import Daemon
from nvshare.emulator.libraries import library_folder
from nvshare.emulator.node import Node
from nvshare.emulator.report import Report, read_report
from nvshare.errors import NvshareError
from nvshare.launch.place import control_socket
from nvshare.launch.preload import Wishes, library, program_environment
from nvshare.launch.start import find_or_start
from nvshare.telemetry.snapshot import NodeStatus


class Sharing:
    """A node with a daemon, and programs under it."""

    def __init__(self, node: Node, stack: ExitStack) -> None:
        self.node = node
        self._stack = stack
        self._base = {**os.environ, **node.environment(library_folder(), os.environ)}
        self._folder = find_or_start(self._base)
        self._stack.callback(self._stop_daemon)

    def daemon(self) -> Daemon:
        """The daemon's control API."""
        return Daemon(control_socket(self._base))

    def start_daemon_again(self) -> None:
        """Start a daemon in the place of one that has died."""
        find_or_start(self._base)

    def start(self, *command: str | Path) -> "subprocess.Popen[str]":
        """Start a program under the daemon; it ends with the test."""
        environment: Mapping[str, str] = {
            **self._base,
            **program_environment(Wishes(), self._folder, library(), self._base),
        }
        process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._stack.callback(process.communicate)
        self._stack.callback(process.kill)
        return process

    def until_status(self, is_so: Callable[[NodeStatus], bool], seconds: float = 30) -> NodeStatus:
        """Ask the daemon until it is so."""
        deadline = time.monotonic() + seconds
        while not is_so(status := self.daemon().status()):
            assert time.monotonic() < deadline, status
            time.sleep(0.01)
        return status

    def until_report(self, is_so: Callable[[Report], bool], seconds: float = 30) -> Report:
        """Ask the node until it is so."""
        deadline = time.monotonic() + seconds
        while not is_so(report := read_report(self.node.folder)):
            assert time.monotonic() < deadline, report
            time.sleep(0.01)
        return report

    def _stop_daemon(self) -> None:
        with suppress(NvshareError, ProcessLookupError):  # it may have ended by itself
            os.kill(self.daemon().status().pid, signal.SIGTERM)


@pytest.fixture
def share(make_node: Callable[..., Node]) -> Iterator[Callable[..., Sharing]]:
    """Make nodes with a daemon."""
    with ExitStack() as stack:
        yield lambda *gpus, **settings: Sharing(make_node(*gpus, **settings), stack)
