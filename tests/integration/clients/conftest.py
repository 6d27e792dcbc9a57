"""Client programs on an emulated node: how one is started, and by which launcher.

The programs in programs/ do not know how they are run, and their output is the same wherever they
run. So any way of running them can be tested by comparing it with expected/.
Every test here runs twice: on the emulated driver alone, and under `nvshare run`.
"""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import TypeAlias

import pytest

from nvshare.cli.control import Daemon
from nvshare.errors import NvshareError
from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import DRIVER, library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node
from nvshare.launch.place import control_socket
from nvshare.launch.start import find_or_start
from tools.cache import folder, kept

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
EXPECTED = HERE / "expected"

PYCUDA = "2026.1"

NVSHARE = str(Path(sys.executable).parent / "nvshare")
UNDER_NVSHARE = (NVSHARE, "run", "--")

Start: TypeAlias = Callable[..., "subprocess.Popen[str]"]
Run: TypeAlias = Callable[..., str]


@pytest.fixture(scope="session")
def shared_node() -> Iterator[Node]:
    """Two small GPUs with a daemon, for everything that runs under nvshare."""
    with two_small_gpus() as made:
        yield made
        with suppress(NvshareError, ProcessLookupError):  # it may have ended by itself
            os.kill(Daemon(control_socket(on_node(made))).status().pid, signal.SIGTERM)


@pytest.fixture(params=[(), UNDER_NVSHARE], ids=["bare", "nvshare"])
def launcher(request: pytest.FixtureRequest) -> Sequence[str]:
    """The words before a command. Parametrize it to run the programs in another way."""
    found: Sequence[str] = request.param
    return found


@pytest.fixture
def node(request: pytest.FixtureRequest, launcher: Sequence[str]) -> Iterator[Node]:
    """Two small GPUs. Under nvshare their daemon also has the programs of other tests."""
    if not launcher:
        with two_small_gpus() as made:
            yield made
        return
    shared: Node = request.getfixturevalue("shared_node")
    # If a program had to start the daemon, that would be reported on standard error.
    find_or_start(on_node(shared))
    yield shared


def two_small_gpus() -> AbstractContextManager[Node]:
    """Make a node."""
    return transient_node(node_root(), Settings(speed=100), parse_gpus("2xtiny"))


def on_node(node: Node) -> dict[str, str]:
    """The environment of a program on a node."""
    return {**os.environ, **node.environment(library_folder(), os.environ)}


@pytest.fixture
def start(node: Node, launcher: Sequence[str]) -> Iterator[Start]:
    """Start a command on the node; it ends with the test."""
    with ExitStack() as stack:

        def begin(
            *command: str | Path, environment: Mapping[str, str] | None = None
        ) -> "subprocess.Popen[str]":
            process = subprocess.Popen(
                [*launcher, *command],
                env={**on_node(node), **(environment or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield begin


@pytest.fixture
def run(start: Start) -> Run:
    """Run a command to its end, and return its output. Nothing may go to standard error.

    The emulated libraries report there which functions they do not implement.
    """

    def to_the_end(*command: str | Path, environment: Mapping[str, str] | None = None) -> str:
        process = start(*command, environment=environment)
        output, errors = process.communicate(timeout=100)
        assert (process.returncode, complaints(errors)) == (0, []), errors + output
        return output

    return to_the_end


def complaints(errors: str) -> list[str]:
    """The lines on standard error that should not be there.

    A program that asks for more than the GPU has is told how to get it. A daemon that no program
    has used for a minute has ended, and is started again.
    """
    told = ("NVSHARE_OVERSUBSCRIBE=1", "NVSHARE_ALLOCATION=managed", "nvshare: started a daemon")
    return [line for line in errors.splitlines() if not any(text in line for text in told)]


@pytest.fixture
def check(run: Run) -> Callable[..., None]:
    """Run one of the programs, and compare its output with what is expected."""

    def compare(program: str, environment: Mapping[str, str] | None = None) -> None:
        output = run(sys.executable, PROGRAMS / f"{program}.py", environment=environment)
        assert output == (EXPECTED / f"{program}.txt").read_text(encoding="utf-8")

    return compare


@pytest.fixture(scope="session")
def pycuda() -> Path:
    """A folder with PyCUDA in it. The first use on a machine compiles it: two minutes."""
    return kept(folder() / f"pycuda-{PYCUDA}-{sys.implementation.cache_tag}", build_pycuda)


def build_pycuda(target: Path) -> None:
    """Compile PyCUDA against PyPI's headers and the emulated driver: no toolkit is needed."""
    if not shutil.which("g++"):
        pytest.skip("compiling PyCUDA needs g++")
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        pytest.skip("compiling PyCUDA needs the headers of Python")
    home, library = target.parent / "home", target.parent / "lib"
    home.mkdir()
    library.mkdir()
    (library / "libcuda.so").symlink_to(library_folder() / DRIVER)
    headers = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "include"
    # PyCUDA's setup.py reads this file. It compiles twice as fast without optimisation.
    (home / ".aksetup-defaults.py").write_text(
        f"CUDA_INC_DIR = [{str(headers)!r}]\n"
        f"CUDADRV_LIB_DIR = [{str(library)!r}]\n"
        "CUDA_ENABLE_CURAND = False\n"
        "CXXFLAGS = ['-O0', '-g0']\n"
    )
    # No cache: nothing else can use this build. Settings of pip's stay where they are.
    command = [sys.executable, "-m", "pip", "install", "--no-cache-dir", "--no-deps"]
    command += ["--target", str(target), f"pycuda=={PYCUDA}"]
    config = os.environ.get("XDG_CONFIG_HOME", str(Path.home() / ".config"))
    environment = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": config}
    built = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500)
    assert built.returncode == 0, built.stdout[-5000:] + built.stderr[-5000:]
