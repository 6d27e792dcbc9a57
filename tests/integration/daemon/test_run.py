"""nvshare run, with everything real: it starts a daemon if need be, and becomes the command."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nvshare.cli.control import Daemon as Control
from nvshare.launch.preload import library
from nvshare.launch.private import LOCK, private_folder
from nvshare.launch.start import LOG
from nvshare.settings import ClientLimits

NVSHARE = [sys.executable, "-m", "nvshare"]


@pytest.fixture
def folder(node_environment: dict[str, str]) -> Iterator[Path]:
    """The folder of the node's daemon, which is ended after the test."""
    library()
    folder = Path(node_environment["NVSHARE_EMULATOR_NODE"]) / "daemon"
    yield folder
    lock = private_folder(folder, {}) / LOCK
    if lock.exists():
        pid = int(lock.read_text())
        end = os.pidfd_open(pid)
        signal.pidfd_send_signal(end, signal.SIGTERM)
        os.close(end)


def run(environ: dict[str, str], *command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*NVSHARE, "run", *command], env=environ, capture_output=True, text=True, timeout=60
    )


def test_a_daemon_is_started_once_and_announced(
    node_environment: dict[str, str], folder: Path
) -> None:
    first = run(node_environment, "--", "sh", "-c", "echo out; exit 7")
    assert (first.returncode, first.stdout) == (7, "out\n")
    assert first.stderr == f"nvshare: started a daemon, in {folder}\n"
    pid = Control(folder / "control.sock").status().pid
    second = run(node_environment, "--", "sh", "-c", "kill -TERM $$")
    assert (second.returncode, second.stderr) == (-signal.SIGTERM, "")
    assert Control(folder / "control.sock").status().pid == pid


def test_of_many_at_once_one_starts_it(node_environment: dict[str, str], folder: Path) -> None:
    crowd = [
        subprocess.Popen(
            [*NVSHARE, "run", "--", "true"], env=node_environment, stderr=subprocess.PIPE, text=True
        )
        for _ in range(8)
    ]
    said = [process.communicate(timeout=60)[1] for process in crowd]
    assert [process.returncode for process in crowd] == [0] * 8
    assert sorted(said) == [""] * 7 + [f"nvshare: started a daemon, in {folder}\n"]


def test_a_daemon_that_cannot_start_says_why(
    node_environment: dict[str, str], folder: Path
) -> None:
    done = run({**node_environment, "NVSHARE_MODE": "sideways"}, "--", "true")
    assert done.returncode == 1
    assert "gpu.mode: must be" in done.stderr
    assert str(private_folder(folder, {}) / LOG) in done.stderr


@pytest.mark.usefixtures("folder")
def test_the_program_is_registered_with_its_limits(
    node_environment: dict[str, str], folder: Path
) -> None:
    command = [sys.executable, "-c", PROGRAM, str(folder / "control.sock")]
    done = run(node_environment, "--memory", "4Gi", "--compute", "40", "--", *command)
    assert done.returncode == 0, done.stderr
    (client,) = json.loads(done.stdout)
    limits = ClientLimits.model_validate(client["limits"])
    assert limits == ClientLimits(memory_limit=4 << 30, compute_percent=40)
    assert client["group"]


# Uses GPU 1 and looks at itself from the daemon's side, once it is known there.
PROGRAM = """
import ctypes, json, os, sys
from pathlib import Path
from nvshare.cli.control import Daemon
cuda = ctypes.CDLL("libcuda.so.1")
context, pointer = ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 1) == 0
assert cuda.cuCtxSetCurrent(context) == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(1 << 20)) == 0
assert cuda.cuMemsetD8_v2(pointer, ctypes.c_ubyte(1), ctypes.c_size_t(1 << 20)) == 0
daemon = Daemon(Path(sys.argv[1]))
while not (clients := [c for c in daemon.status().clients if c.pid == os.getpid()]):
    pass
print(json.dumps([client.model_dump() for client in clients]))
"""
