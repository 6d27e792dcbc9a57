"""Two users on one GPU, each with `nvshare run`: one daemon, no matter which user started it."""

import grp
import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from nvshare.lab.emulator.libraries import library_folder
from nvshare.launch.start import find_or_start

from ..users import ALICE, BOB
from .several import Machine, machine_for_all

if TYPE_CHECKING:
    from subprocess import Popen

pytestmark = pytest.mark.needs("root")

SPEED = 10
USERS = grp.getgrnam("users").gr_gid


@pytest.fixture
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with machine_for_all(tmp_path_factory.mktemp("n").name, SPEED) as made:
        yield made


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
    pid = machine.lock.read_text()
    first, second = machine.work(ALICE), machine.work(BOB)
    runs = [finish(first), finish(second)]
    # The same daemon for both, which is Alice's.
    assert machine.lock.read_text() == pid
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
    # Every user may read the status.
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
