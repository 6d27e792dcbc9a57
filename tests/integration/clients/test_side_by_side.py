"""Four different programs at the same time under nvshare, each as if it were alone."""

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from nvshare.cli.control import Daemon
from nvshare.lab.emulator.emulated_node import Node
from nvshare.launch.place import control_socket
from nvshare.wire import frames

from .conftest import EXPECTED, PROGRAMS, UNDER_NVSHARE, complaints, on_node

Start = Callable[..., "subprocess.Popen[str]"]

# Every program, once. Programs of similar duration are together, or the last would be alone for
# most of its time. A few come twice to fill the batches.
BATCHES = [
    ("contexts", "copies", "devices", "errors"),
    ("exhaustion", "graphs", "kernels", "managed"),
    ("modules", "peers", "pools", "streams"),
    ("threads", "vmm", "pycuda_arrays", "ipc"),
    ("core_objects", "core_programs", "numba_arrays", "ipc_events"),
    ("numba_detect", "numba_kernels", "graphs", "streams"),
]


@pytest.fixture
def needs(request: pytest.FixtureRequest) -> Callable[[str], dict[str, str]]:
    """The variables that a few programs need to run at all."""

    def variables(program: str) -> dict[str, str]:
        if program == "ipc":
            return {"NVSHARE_ALLOCATION": "native"}
        if program == "pycuda_arrays":
            return {"PYTHONPATH": str(request.getfixturevalue("pycuda"))}
        return {}

    return variables


@pytest.mark.parametrize("launcher", [UNDER_NVSHARE], ids=["nvshare"])
def test_the_daemon_knows_who_it_is(start: Start, node: Node) -> None:
    """Otherwise these tests would compare programs without nvshare with each other."""
    holder = start(sys.executable, PROGRAMS / "holder.py", "0", "1")
    assert holder.stdout is not None
    assert holder.stdout.readline() == "ready\n"
    status = Daemon(control_socket(on_node(node))).status()
    assert holder.pid in {client.pid for client in status.clients}


@pytest.fixture
def unasked_has_room(node: Node) -> Iterator[None]:
    """Leave as much of the GPUs free as on a large one.

    On a large GPU, memory that programs use without asking is within the usual reserve. On so small
    a GPU it is an eighth.
    """
    daemon = Daemon(control_socket(on_node(node)))
    daemon.change_devices("all", {"reserve": f"{frames.UNASKED_BYTES * 5 // 4}"})
    yield
    daemon.change_devices("all", {"reserve": "auto"})


def test_every_program_is_in_a_batch() -> None:
    chosen = {program for programs in BATCHES for program in programs}
    assert chosen == {path.stem for path in EXPECTED.iterdir()}


@pytest.mark.timeout(600)  # the first use of PyCUDA compiles it
@pytest.mark.parametrize("launcher", [UNDER_NVSHARE], ids=["nvshare"])
@pytest.mark.parametrize("programs", BATCHES, ids="-".join)
@pytest.mark.parametrize("allocation", ["managed", "explicit"])
@pytest.mark.usefixtures("unasked_has_room")
def test_together(
    start: Start,
    needs: Callable[[str], dict[str, str]],
    programs: tuple[str, ...],
    allocation: str,
) -> None:
    started = [
        start(
            sys.executable,
            PROGRAMS / f"{program}.py",
            environment={"NVSHARE_ALLOCATION": allocation, **needs(program)},
        )
        for program in programs
    ]
    for program, process in zip(programs, started, strict=True):
        output, errors = process.communicate(timeout=100)
        assert (process.returncode, complaints(errors)) == (0, []), program
        assert output == (EXPECTED / f"{program}.txt").read_text(encoding="utf-8")
