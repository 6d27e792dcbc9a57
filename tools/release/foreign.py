"""Tests the wheel for another architecture on this machine: its programs run under qemu-user.

They compute on its emulated GPU, preloaded with its interposer, under a daemon of this machine. The
two architectures cannot share the state of an emulated node, so each has its own, made from the
same description: the GPUs have the same names, which is all that the daemon has to know.
"""

import contextlib
import json
import os
import platform
import shutil
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tools.release.tree import Command, ReleaseError, need, run, tool
from tools.release.wheels import MACHINES, wheel

_PATIENCE_S = 30.0
_JOINED = 'msg="client joined"'


def try_foreign_wheel() -> None:
    """Let a program of each other architecture compute under a daemon."""
    for machine in MACHINES:
        if machine != platform.machine():
            _try(machine)


def _try(machine: str) -> None:
    qemu = need(f"qemu-{machine}-static", "qemu-user-static")
    with tempfile.TemporaryDirectory(prefix="nvshare-release-") as name:
        scratch = Path(name)
        libraries = _unpack(wheel(machine), scratch / "wheel")
        log = scratch / "daemon.log"
        with _node(f"release-{os.getpid()}") as node, _daemon(node, scratch / "run", log):
            own = scratch / "node"
            own.mkdir()
            shutil.copy(node / "node.conf", own)
            told = run(
                [
                    *(qemu, "-L", f"/usr/{machine}-linux-gnu"),
                    *("-E", f"LD_LIBRARY_PATH={libraries / 'emulator'}"),
                    *("-E", f"LD_PRELOAD={libraries / 'libnvshare.so'}"),
                    *("-E", f"NVSHARE_EMULATOR_NODE={own}"),
                    *("-E", f"NVSHARE_SOCKET_DIR={scratch / 'run'}"),
                    *(libraries / "workloads" / "driver-add", "pytorch-add-small"),
                    *("--iterations", "50", "--startup", "0"),
                ]
            )
        # The line with its result is the last one: warnings come before.
        if json.loads(told.splitlines()[-1])["iterations"] != 50:
            raise ReleaseError(f"the workload of {machine} failed: {told}")
        if _JOINED not in log.read_text():
            raise ReleaseError(f"the interposer of {machine} did not reach the daemon:\n{told}")


def _unpack(path: Path, target: Path) -> Path:
    """Return the folder of the native parts. Programs are executable, as when pip installs them."""
    with zipfile.ZipFile(path) as archive:
        archive.extractall(target)
    libraries = target / "nvshare" / "lib"
    for program in (libraries / "workloads").glob("driver-*"):
        program.chmod(0o755)
    return libraries


@contextlib.contextmanager
def _node(name: str) -> Iterator[Path]:
    """Yield the folder of an emulated node of this machine."""
    nvshare = tool("nvshare")
    up: Command = [
        nvshare,
        "emulate",
        "up",
        name,
        "--gpus=t4",
        "--speed=100",
        "--data=off",
        "--json",
    ]
    told = json.loads(run(up))
    try:
        yield Path(told["folder"])
    finally:
        run([nvshare, "emulate", "down", name])


@contextlib.contextmanager
def _daemon(node: Path, folder: Path, log: Path) -> Iterator[None]:
    nvshare = tool("nvshare")
    command: Command = [nvshare, "emulate", "--node", node.name, "--"]
    command += [nvshare, "daemon", f"--socket-dir={folder}"]
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT) as process,
    ):
        try:
            _wait_for(folder / "nvshare.sock", process)
            yield
        finally:
            process.terminate()


def _wait_for(sock: Path, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + _PATIENCE_S
    while not sock.exists():
        if process.poll() is not None or time.monotonic() > end:
            raise ReleaseError(
                f"the daemon for the other machine's wheel did not start: there is no {sock}"
            )
        time.sleep(0.05)
