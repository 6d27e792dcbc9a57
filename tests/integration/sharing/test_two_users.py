"""Two users on one GPU, each with `nvshare run`: one daemon, whoever has started it."""

import grp
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from nvshare.emulator.conf import Settings
from nvshare.emulator.gpus import parse_gpus
from nvshare.emulator.libraries import library_folder
from nvshare.emulator.node import Node, create
from nvshare.emulator.root import node_root
from nvshare.emulator.workload import workload_command
from nvshare.launch.start import find_or_start

from ..users import ALICE, BOB, as_user, environment_of

if TYPE_CHECKING:
    from subprocess import Popen

pytestmark = pytest.mark.needs("root")

SPEED = 10
USERS = grp.getgrnam("users").gr_gid
NVSHARE = (sys.executable, "-m", "nvshare")
# The time before and after: what Python takes to start is no part of it.
TIMED = ("sh", "-c", 'date +%s.%N; "$@"; date +%s.%N', "sh")


class Machine:
    """A machine with one T4 that several users can reach."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.groups: dict[int, tuple[int, ...]] = {}
        node.folder.chmod(0o1777)
        state = node.folder / "state"
        state.touch()
        state.chmod(0o666)

    def start(self, uid: int, *command: str, **variables: str) -> "Popen[str]":
        """Start `nvshare COMMAND…` as a user."""
        own = environment_of(uid)
        return subprocess.Popen(
            [*as_user(uid, *self.groups.get(uid, ())), *NVSHARE, *command],
            env={**own, **self.node.environment(library_folder(), own), **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
        )

    def work(self, uid: int, **variables: str) -> "Popen[str]":
        """Start 12 GB of work under the daemon."""
        workload = workload_command("pytorch-add", "--iterations", "1500")
        return self.start(uid, "run", "--", *TIMED, *workload, **variables)

    def end_daemon(self) -> None:
        lock = self.node.folder / "daemon" / "daemon.lock"
        if lock.exists():
            pid = os.pidfd_open(int(lock.read_text()))
            signal.pidfd_send_signal(pid, signal.SIGTERM)
            os.close(pid)


@pytest.fixture
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    # In memory, as all nodes, but where everybody can go.
    root = node_root().parent / f"nvshare-test-{os.getpid()}-{tmp_path_factory.mktemp('n').name}"
    root.mkdir(mode=0o755)
    machine = Machine(create(root, "lab", Settings(speed=SPEED, data="off"), parse_gpus("1xt4")))
    yield machine
    machine.end_daemon()
    shutil.rmtree(root)


def finish(process: "Popen[str]") -> tuple[float, float, float]:
    """Return when a workload began and ended, and how many emulated seconds it took."""
    out, errors = process.communicate(timeout=100)
    assert process.returncode == 0, errors
    began, result, ended = out.splitlines()
    return float(began), float(ended), json.loads(result)["seconds"]


@pytest.mark.slow
@pytest.mark.timed
def test_two_users_share_one_daemon_and_lose_nothing(machine: Machine) -> None:
    # Emulated seconds: a daemon that `run` starts counts those of the node.
    settings = {"NVSHARE_TURN": "60", "NVSHARE_SOCKET_MODE": "0666"}
    _, _, alone = finish(machine.work(ALICE, **settings))
    pid = (machine.node.folder / "daemon" / "daemon.lock").read_text()
    first, second = machine.work(ALICE), machine.work(BOB)
    runs = [finish(first), finish(second)]
    # The same daemon for both, which is Alice's.
    assert (machine.node.folder / "daemon" / "daemon.lock").read_text() == pid
    makespan = (max(end for _, end, _ in runs) - min(begin for begin, _, _ in runs)) * SPEED
    assert makespan <= 1.05 * 2 * alone
    # They were there at the same time, and neither had the GPU to itself.
    assert min(seconds for _, _, seconds in runs) > 1.2 * alone


def test_whose_daemon_it_is_is_said(machine: Machine) -> None:
    first = machine.start(ALICE, "run", "--", "true", NVSHARE_SOCKET_MODE="0666")
    assert "started a daemon" in first.communicate(timeout=60)[1]
    done = machine.start(BOB, "run", "--", "id", "-u")
    out, said = done.communicate(timeout=60)
    assert out == f"{BOB}\n"
    assert said.startswith(f"nvshare: using the daemon of {ALICE} (pid ")
    doctor = machine.start(BOB, "doctor").communicate(timeout=60)[0]
    assert f"note  the daemon of {ALICE} (pid" in doctor


def test_the_daemon_of_the_machine_is_for_a_group(machine: Machine) -> None:
    # As the service makes it, with a group that every system has.
    environ = {**os.environ, **machine.node.environment(library_folder(), os.environ)}
    modes = {"NVSHARE_SOCKET_MODE": "0660", "NVSHARE_SOCKET_GROUP": "users"}
    find_or_start({**environ, **modes})
    machine.groups[ALICE] = (USERS,)
    member = machine.start(ALICE, "run", "--", "id", "-u")
    assert member.communicate(timeout=60) == (f"{ALICE}\n", "")
    other = machine.start(BOB, "run", "--", "true")
    _, said = other.communicate(timeout=60)
    assert other.returncode == 1
    assert "it is for the group users" in said
    assert f"sudo usermod -aG users {BOB}" in said
    # Looking is for everybody.
    status = machine.start(BOB, "status")
    out, said = status.communicate(timeout=60)
    assert (status.returncode, said) == (0, "")
    assert "Tesla T4" in out


def test_a_second_daemon_is_refused(machine: Machine) -> None:
    machine.start(ALICE, "run", "--", "true").communicate(timeout=60)
    folder = machine.node.folder / "second"
    forced = machine.start(BOB, "daemon", f"--socket-dir={folder}")
    _, said = forced.communicate(timeout=60)
    assert forced.returncode == 75
    assert "another daemon shares GPU 0 already" in said
    assert f"the daemon of {ALICE} (pid " in said
    # Alice's daemon is hers alone, and so is the GPU: Bob is told so.
    run = machine.start(BOB, "run", "--", "true", NVSHARE_SOCKET_DIR=str(folder))
    _, said = run.communicate(timeout=60)
    assert run.returncode == 75
    assert "sudo nvshare service install" in said
    doctor = machine.start(BOB, "doctor")
    out, _ = doctor.communicate(timeout=60)
    assert doctor.returncode == 1
    assert f"BAD  another daemon shares GPU 0 already (the daemon of {ALICE}" in out
