"""Programs under libnvshare.so, on an emulated node, with a daemon that follows a script."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node

from ..building import build_native
from .scripted import Scripted
from .swapper import Swapper

GUEST = Path(__file__).parent / "guest.py"
# It needs only the standard library. To import `site` is three quarters of a start.
GUEST_COMMAND = (sys.executable, "-S", str(GUEST))
LIBRARY = Path(str(files("nvshare") / "lib" / "libnvshare.so"))


class Guest:
    """A running guest.py."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def ask(self, text: str) -> Any:
        """Evaluate an expression there."""
        self.put(text)
        return self.answer()

    def put(self, text: str) -> None:
        """Begin to evaluate an expression there, which may wait for the daemon."""
        assert self.process.stdin is not None
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        """Return its value."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            pytest.fail(f"the guest has ended: {self.process.communicate(timeout=10)}")
        return json.loads(line)

    def sleeps_of_session(self) -> int:
        """How often the session's thread has gone to sleep."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        (text,) = (text for task in tasks if "nvshare\n" in (text := (task / "status").read_text()))
        return int(text.split("\nvoluntary_ctxt_switches:")[1].split()[0])

    def end(self) -> str:
        """Let it end; return its standard error."""
        said, errors = self.process.communicate(timeout=20)
        assert said == ""
        assert self.process.returncode == 0, errors
        return errors


StartGuest = Callable[..., Guest]


def preloaded(node: Node, daemon: Path) -> dict[str, str]:
    """The environment of programs on a node, under the interposer."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("NVSHARE_")}
    return {
        **inherited,
        **node.environment(library_folder(), inherited),
        "LD_PRELOAD": str(LIBRARY),
        "NVSHARE_SOCKET_DIR": str(daemon),
    }


@pytest.fixture(scope="session")
def portable_library(once: Callable[..., Path]) -> Path:
    """libnvshare.so as on a machine for which the gate has no assembly."""

    def make(folder: Path) -> None:
        build_native(folder, "-DNVSHARE_PORTABLE_GATE=ON", targets=["nvshare"])

    return once("portable", make) / "native" / "interposer" / LIBRARY.name


@pytest.fixture
def node_settings() -> Settings:
    """The settings of the node; test modules may override this."""
    return Settings(speed=1.0)


@pytest.fixture
def gpus() -> str:
    """The GPUs of the node; test modules may override this."""
    return "2xtiny"


@pytest.fixture
def environment(tmp_path: Path, node_settings: Settings, gpus: str) -> Iterator[dict[str, str]]:
    """A node with GPUs, the interposer preloaded, and a folder for a daemon's socket.

    Programs do not wait for a daemon that is gone, except where test_next_daemon.py asks for it.
    """
    with transient_node(node_root(), node_settings, parse_gpus(gpus)) as node:
        yield {**preloaded(node, tmp_path / "daemon"), "NVSHARE_RESTART_WAIT": "0"}


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[Scripted]:
    """A daemon that listens."""
    daemon = Scripted(tmp_path / "daemon")
    daemon.listen()
    yield daemon
    daemon.die()


@pytest.fixture
def absent(tmp_path: Path) -> Iterator[Scripted]:
    """A daemon that is not there yet."""
    daemon = Scripted(tmp_path / "daemon")
    yield daemon
    daemon.die()


@pytest.fixture
def start_guest(environment: dict[str, str]) -> Iterator[StartGuest]:
    """Start guests; they are gone when the test ends."""
    with ExitStack() as stack:

        def start(**variables: str) -> Guest:
            process = subprocess.Popen(
                GUEST_COMMAND,
                env={**environment, **variables},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            stack.callback(process.communicate, timeout=10)
            stack.callback(process.kill)
            return Guest(process)

        yield start


@pytest.fixture
def guest(start_guest: StartGuest) -> Guest:
    """A guest with default settings."""
    return start_guest()


@pytest.fixture
def swapper(scripted: Scripted, guest: Guest, environment: dict[str, str]) -> Swapper:
    """A guest that holds turn 1, and has nothing yet."""
    return Swapper(scripted, guest, environment)
