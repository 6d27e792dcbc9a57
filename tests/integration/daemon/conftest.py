"""Daemons on emulated nodes."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from nvshare.cli.control import Daemon as Control
from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node
from nvshare.launch.place import CONTROL_NAME
from tests.integration.forked import Forked
from tests.integration.readiness import Readiness

from .client import Client

# Enough for a start or an end, on a busy machine.
SECONDS = 20.0


@dataclass
class Daemon:
    """A daemon process."""

    folder: Path
    environ: dict[str, str]
    options: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()
    # Whether it starts as a fork; otherwise as users start it.
    is_forked: bool = False
    process: "subprocess.Popen[bytes] | Forked | None" = None
    readiness: Readiness = field(init=False)
    clients: list[Client] = field(default_factory=list)

    @property
    def pid(self) -> int:
        """The pid of the process."""
        assert self.process is not None
        return self.process.pid

    @property
    def control(self) -> Control:
        """Its control API."""
        return Control(self.folder / CONTROL_NAME)

    @property
    def gpus(self) -> list[str]:
        """The UUIDs of its GPUs."""
        return [gpu.uuid for gpu in self.control.status().devices]

    @property
    def log(self) -> str:
        """The contents of its log."""
        return self.log_file.read_text()

    @property
    def log_file(self) -> Path:
        """The path of its log."""
        return Path(f"{self.folder}.log")

    def start(self) -> None:
        """Start it, and wait until it says that it is ready."""
        self.readiness = Readiness(Path(f"{self.folder}.notify"))
        options = (f"--socket-dir={self.folder}", *self.options)
        environ = {**self.environ, **self.readiness.environ}
        if self.is_forked:
            self.process = Forked(options, environ, self.log_file)
        else:
            command = [*self.prefix, sys.executable, "-m", "nvshare", "daemon", *options]
            with self.log_file.open("a") as log:
                self.process = subprocess.Popen(command, env=environ, stderr=log)
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Wait until the start, or a reload, is complete."""
        self.readiness.wait(self.pid, self.log_file)

    def stop(self, number: int = signal.SIGTERM) -> str:
        """End it, and return its log."""
        assert self.process is not None
        self.process.send_signal(number)
        self.process.wait(timeout=SECONDS)
        self.readiness.close()
        return self.log

    def connect(self) -> Client:
        """Connect a client, which is closed at the end of the test."""
        client = Client(self.folder)
        self.clients.append(client)
        return client


StartDaemon = Callable[..., Daemon]


@pytest.fixture
def node_environment() -> Iterator[dict[str, str]]:
    """The variables that put a program on a node with two GPUs."""
    with transient_node(node_root(), Settings(), parse_gpus("2xt4")) as node:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("NVSHARE_")}
        yield {**inherited, **node.environment(library_folder(), inherited)}


@pytest.fixture
def start_daemon(tmp_path: Path, node_environment: dict[str, str]) -> Iterator[StartDaemon]:
    """Start daemons with options; they end with the test, and must log no errors."""
    started: list[Daemon] = []

    def start(*options: str, prefix: tuple[str, ...] = (), **environ: str) -> Daemon:
        folder = tmp_path / f"d{len(started)}"
        own = {**node_environment, **environ}
        daemon = Daemon(folder, own, options, prefix, is_forked=not prefix)
        started.append(daemon)
        daemon.start()
        return daemon

    yield start
    for daemon in started:
        for client in daemon.clients:
            client.close()
        if daemon.process is not None and daemon.process.poll() is None:
            daemon.stop()
        daemon.readiness.close()
        assert "traceback" not in daemon.log, daemon.log


@pytest.fixture
def daemon(start_daemon: StartDaemon) -> Daemon:
    """A daemon in auto mode."""
    return start_daemon()


@pytest.fixture
def serial(start_daemon: StartDaemon) -> Daemon:
    """A daemon that lets one client run at a time."""
    return start_daemon("--mode=serial", "--turn=3600")


def pytest_generate_tests(metafunc: Any) -> None:
    """Give the fuzzer its size."""
    if "bad_frames" in metafunc.fixturenames:
        metafunc.parametrize("bad_frames", [metafunc.config.getoption("bad_frames")])
