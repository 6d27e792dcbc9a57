"""Shares of compute with PyTorch programs, as the emulated GPUs count them."""

import subprocess
import time

import pytest

from nvshare.cli.lab.trial.realtime import ahead_of_others
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.report import read_report

from .conftest import SHARED, WORKLOADS, MakeNode, Start

pytestmark = pytest.mark.timeout(900)

TRIES = 3
# Percentage points of a GPU.
TOLERANCE = 2.0
# In real seconds: until the daemon knows which programs compute all the time, then the measurement.
WARM_UP_S = 8.0
MEASURED_S = 8.0


def clock_and_use(node: Node, pids: list[int]) -> tuple[int, list[int]]:
    report = read_report(node.folder)
    processes = [report.process(pid) for pid in pids]
    used = [sum(gpu.compute_ns for gpu in one.gpus) if one else 0 for one in processes]
    return report.clock_ns, used


def got(node: Node, programs: "list[subprocess.Popen[str]]") -> list[float]:
    """Wait until all programs compute; return each one's part of its GPU since, in percent."""
    pids = [program.pid for program in programs]
    while not all(clock_and_use(node, pids)[1]):
        assert [program.poll() for program in programs] == [None] * len(programs)
        time.sleep(0.2)
    time.sleep(WARM_UP_S)
    readings = [clock_and_use(node, pids)]
    time.sleep(MEASURED_S)
    readings.append(clock_and_use(node, pids))
    ((began, before), (ended, after)) = readings
    return [100 * (b - a) / (ended - began) for a, b in zip(before, after, strict=True)]


def test_programs_get_their_shares_alone_and_together(make_node: MakeNode, start: Start) -> None:
    # Alone on a GPU with 25, 50 and 75 percent; and 30 and 60 together on another.
    wanted = [(0, 25), (1, 50), (2, 75), (3, 30), (3, 60)]
    worst = []
    for _ in range(TRIES):
        with ahead_of_others():
            node = make_node("4xt4", speed=5, data="off")
            programs = [
                start(
                    node,
                    WORKLOADS / "pytorch_add_small.py",
                    launcher=(*SHARED[:-1], "--gpu", str(gpu), "--compute", str(percent), "--"),
                )
                for gpu, percent in wanted
            ]
            measured = got(node, programs)
        for program in programs:
            program.kill()
        errors = [abs(one - percent) for one, (_, percent) in zip(measured, wanted, strict=True)]
        worst.append(max(errors))
        if worst[-1] <= TOLERANCE:
            return
    assert min(worst) <= TOLERANCE, worst
