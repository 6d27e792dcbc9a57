"""Emulated nodes, a library to ask about them, and processes that hold a known amount of them."""

import ctypes
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nvshare.lab.emulator.conf import Conf, read_conf
from nvshare.lab.emulator.emulated_node import CONF_FILE, Node
from nvshare.lab.emulator.libraries import NVML, library_folder

ROOT = Path(__file__).parents[3]
EMULATOR = ROOT / "lab" / "emulator"

MakeNode = Callable[..., Node]
Guest = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def node(make_node: MakeNode) -> Node:
    """Two T4s at ordinary speed."""
    return make_node("2xt4")


@pytest.fixture
def conf(node: Node) -> Conf:
    """The configuration of the node."""
    return read_conf((node.folder / CONF_FILE).read_text(encoding="ascii"))


@pytest.fixture(scope="session")
def pynvml() -> Any:
    """nvidia-ml-py. It gets the emulated library because that one is loaded already."""
    ctypes.CDLL(str(library_folder() / NVML), mode=ctypes.RTLD_GLOBAL)
    import pynvml

    return pynvml


@pytest.fixture
def on_node(pynvml: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Node], Any]]:
    """Initialise NVML on a node and shut it down at the end."""
    begun: list[Node] = []

    def begin(node: Node) -> Any:
        monkeypatch.setenv("NVSHARE_EMULATOR_NODE", str(node.folder))
        pynvml.nvmlInit()
        begun.append(node)
        return pynvml

    yield begin
    for _ in begun:
        pynvml.nvmlShutdown()


@pytest.fixture
def nvml(on_node: Callable[[Node], Any], node: Node) -> Any:
    """NVML, initialised on the node."""
    return on_node(node)


@pytest.fixture(scope="session")
def guest_program(once: Callable[..., Path]) -> Path:
    """Compile lab/tests/node_guest.c with the model, and nothing else of the emulator."""
    command = ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1", "-Wall", "-Wextra", "-Werror"]
    command += [f"-I{EMULATOR}", str(ROOT / "lab/tests/node_guest.c")]
    command += [str(source) for source in sorted((EMULATOR / "model").glob("*.c"))]

    def make(program: Path) -> None:
        subprocess.run([*command, "-lm", "-lpthread", "-o", str(program)], check=True, timeout=120)

    return once("node_guest", make)


@pytest.fixture
def guest(guest_program: Path) -> Iterator[Guest]:
    """Start processes on a node; they end with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(
        node: Node,
        *,
        gpu: int = 0,
        contexts: int = 1,
        plain_bytes: int = 0,
        blocks: int = 0,
        busy_ns: int = 0,
    ) -> "subprocess.Popen[str]":
        arguments = [str(number) for number in (gpu, contexts, plain_bytes, blocks, busy_ns)]
        process = subprocess.Popen(
            [guest_program, *arguments],
            env={"NVSHARE_EMULATOR_NODE": str(node.folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate(timeout=10)


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool]], None]:
    """Poll until the condition holds: the model's time goes on by itself."""

    def ask(is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 10
        while not is_so():
            assert time.monotonic() < deadline
            time.sleep(0.001)

    return ask
