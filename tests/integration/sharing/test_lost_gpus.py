"""A GPU that is lost, or that NVML does not support, costs that GPU only."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from nvshare.cli.control import Daemon
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.fault import XID_LOST, refuse_answers, set_fault
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.workload import workload_command
from nvshare.launch.place import control_socket
from nvshare.launch.preload import Wishes

from .conftest import PATIENCE, Sharing

Share = Callable[..., Sharing]
Break = Callable[[Node], None]


def lose(node: Node) -> None:
    set_fault(node, 1, XID_LOST, needs_reset=True)


def refuse(node: Node) -> None:
    refuse_answers(node, 1, refuses=True)


def heal(node: Node) -> None:
    set_fault(node, 1, 0, needs_reset=False)
    refuse_answers(node, 1, refuses=False)


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def finish(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Return how many iterations a workload has done, and its messages."""
    out, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    return int(json.loads(out)["iterations"]), said


@pytest.mark.parametrize("break_it", [lose, refuse])
def test_a_gpu_that_is_lost_during_a_run(share: Share, break_it: Break) -> None:
    sharing = share("2xt4", speed=20, data="off")
    other = sharing.guest(Wishes(gpus="1"))
    assert other.ask("gpu.init() or gpu.alloc(1 << 20)[0] == 0") is True
    command = workload_command("pytorch-add", "--iterations", "6000")
    working = sharing.start(*command, wishes=Wishes(gpus="0"))
    sharing.until_status(lambda now: now.devices[0].running == 1)
    break_it(sharing.node)
    status = sharing.until_status(lambda now: now.devices[1].lost_seconds is not None)
    assert (status.devices[0].lost_seconds, status.devices[0].running) == (None, 1)
    assert status.devices[1].lost_because.startswith("NVML: ")
    # It does not notice.
    assert finish(working) == (6000, "")
    heal(sharing.node)
    until(lambda: sharing.daemon().status().devices[1].lost_seconds is None)
    # The program on the other one was told, once, and goes on.
    assert other.ask("gpu.alloc(1 << 20)[0]") == 0
    other.process.kill()
    said = other.process.communicate()[1]
    assert said.count("GPU 1 cannot be used") == 1


@pytest.mark.parametrize("break_it", [lose, refuse])
def test_a_gpu_that_is_lost_before_a_run(make_node: Callable[..., Node], break_it: Break) -> None:
    node = make_node("2xt4", speed=20, data="off")
    environ = {**os.environ, **node.environment(library_folder(), os.environ)}
    break_it(node)

    def nvshare(*command: str) -> "subprocess.CompletedProcess[str]":
        words = [sys.executable, "-m", "nvshare", *command]
        return subprocess.run(words, env=environ, capture_output=True, text=True, timeout=60)

    program = workload_command("pytorch-add", "--iterations", "200")
    done = nvshare("run", "--gpu", "0", "--", *program)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["iterations"] == 200
    daemon = Daemon(control_socket(environ))
    status = daemon.status()
    assert [gpu.index for gpu in status.devices] == [0]
    (missing,) = status.missing
    assert missing.index == 1
    assert missing.why.startswith("NVML: ")
    assert "GPU 1: not shared for" in nvshare("status").stdout
    doctor = nvshare("doctor")
    assert doctor.returncode == 1
    assert f"BAD  GPU 1 cannot be used ({missing.why}); the others can" in doctor.stdout
    assert "ok  GPU 0: Tesla T4" in doctor.stdout
    smi = nvshare("emulate", "smi", node.name, "--json")
    assert [gpu["error"] is None for gpu in json.loads(smi.stdout)["devices"]] == [True, False]
    # It is shared again as soon as it is back.
    heal(node)
    until(lambda: len(daemon.status().devices) == 2)
    assert daemon.status().missing == ()
    os.kill(daemon.status().pid, 15)
