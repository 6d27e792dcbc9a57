"""An impostor listens where a program looks for the daemon: programs do not talk to it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import pytest

from nvshare.lab.emulator.workload import workload_command

from ..users import ALICE, BOB
from .several import Machine, machine_for_all

pytestmark = pytest.mark.needs("root")

LIBRARY = str(files("nvshare") / "lib" / "libnvshare.so")
# Listens in its own folder, or in that of another user, and prints how many bytes it was sent.
POSE = """
import os, pathlib, select, socket, sys
os.umask(0)
folder = pathlib.Path(sys.argv[1])
folder.mkdir(mode=0o755, exist_ok=True)
names = ("nvshare.sock", "control.sock")
socks = {}
for name in names:
    (folder / name).unlink(missing_ok=True)
    socks[name] = socket.socket(socket.AF_UNIX)
    socks[name].bind(str(folder / name))
    socks[name].listen()
print("listening", flush=True)
heard = 0
while True:
    ready = select.select([sys.stdin, *socks.values()], [], [])[0]
    if sys.stdin in ready:
        break
    for sock in ready:
        heard += len(sock.accept()[0].recv(100))
print(heard)
"""


class Poser:
    """A process that listens in a folder."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def heard(self) -> int:
        """End it; return how many bytes were sent to it."""
        return int(self._process.communicate("\n", timeout=20)[0])


@contextmanager
def posing(machine: Machine, uid: int, folder: Path) -> Iterator[Poser]:
    process = machine.become(uid, sys.executable, "-c", POSE, str(folder))
    assert process.stdout is not None
    assert process.stdout.readline() == "listening\n"
    try:
        yield Poser(process)
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with machine_for_all(tmp_path_factory.mktemp("p").name, 1000) as made:
        yield made


def run(machine: Machine, folder: Path, **variables: str) -> tuple[int, str, str]:
    """Run a program of Alice's under the interposer, without `nvshare run`."""
    workload = workload_command("pytorch-add", "--iterations", "3")
    process = machine.become(
        ALICE,
        *("env", f"LD_PRELOAD={LIBRARY}", *workload),
        NVSHARE_SOCKET_DIR=str(folder),
        **variables,
    )
    out, errors = process.communicate(timeout=60)
    return process.returncode, out, errors


def test_who_poses_is_not_talked_to(machine: Machine) -> None:
    # The name that a program of Alice's looks for in /tmp, in a folder with the same permissions.
    folder = machine.node.folder / f"nvshare-{ALICE}"
    with posing(machine, BOB, folder) as poser:
        code, out, errors = run(machine, folder)
        assert code == 0
        assert json.loads(out)["seconds"] > 0
        (warning,) = (line for line in errors.splitlines() if "nvshare" in line)
        assert "the folder of its socket belongs to another user" in warning
        assert "it runs unmanaged" in warning
        code, _, errors = run(machine, folder, NVSHARE_REQUIRE="1")
        assert code != 0
        assert "it may not use the GPU" in errors
        # Commands do not trust it either.
        status = machine.start(ALICE, "status", NVSHARE_SOCKET_DIR=str(folder))
        assert "is not trusted" in status.communicate(timeout=60)[1]
        assert poser.heard() == 0


def test_who_has_got_into_a_folder_of_ours_is_not_talked_to(machine: Machine) -> None:
    folder = machine.node.folder / f"nvshare-{ALICE}"
    with posing(machine, BOB, folder) as poser:
        # The owner of the files does not matter: the kernel knows which user listens.
        for path in (folder, *folder.iterdir()):
            os.chown(path, ALICE, ALICE)
        code, _, errors = run(machine, folder)
        assert code == 0
        assert "another user listens on its socket" in errors
        assert poser.heard() == 0


def test_a_daemon_that_was_named_is_talked_to(machine: Machine) -> None:
    folder = machine.node.folder / f"nvshare-{ALICE}"
    with posing(machine, BOB, folder) as poser:
        assert run(machine, folder, NVSHARE_DAEMON_UID=str(BOB))[0] == 0
        assert poser.heard() > 0
