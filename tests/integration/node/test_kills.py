"""Processes may die at any moment; the others go on using the node undisturbed."""

import os
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.resources import files
from pathlib import Path

import pytest

from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.report import Report, read_report

MakeNode = Callable[..., Node]
KERNELS = str(files("nvshare") / "lab" / "emulator" / "kernels.ptx")
ROUNDS = 200
PROCESSES = 4


@contextmanager
def hammering(node: Node, program: Path, seed: int) -> "Iterator[subprocess.Popen[str]]":
    environment = {**os.environ, **node.environment(library_folder(), {})}
    process = subprocess.Popen(
        [program, "2", "0", str(seed), KERNELS],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(node: Node, is_so: Callable[[Report], bool]) -> Report:
    deadline = time.monotonic() + 30
    while not is_so(report := read_report(node.folder)):
        assert time.monotonic() < deadline, report
    return report


def wait_a_little(node: Node, emulated_ns: int) -> None:
    moment = read_report(node.folder).clock_ns + emulated_ns
    wait_for(node, lambda report: report.clock_ns > moment)


def test_killed_at_random_moments_they_leave_the_node_consistent(
    make_node: MakeNode, hammer: Path
) -> None:
    node = make_node("tiny", speed=100)
    moments = random.Random(20)
    with hammering(node, hammer, 1000) as survivor:
        for round_number in range(ROUNDS // (PROCESSES - 1) + 1):
            with ExitStack() as stack:
                seeds = range(round_number * 10, round_number * 10 + PROCESSES - 1)
                victims = [stack.enter_context(hammering(node, hammer, seed)) for seed in seeds]
                wait_for(node, lambda r: len(r.processes) == PROCESSES)
                for victim in victims:
                    wait_a_little(node, moments.randrange(2_000_000))
                    assert victim.poll() is None, victim.communicate()[1]
                    victim.kill()
                    assert read_report(node.folder).difference is None
        report = wait_for(node, lambda r: len(r.processes) == 1)
        assert report.deaths >= ROUNDS
        assert survivor.poll() is None, survivor.communicate()[1]
        kernels_before = report.processes[0].gpus[0].kernels
        wait_for(node, lambda r: r.processes[0].gpus[0].kernels > kernels_before + 100)
        assert survivor.poll() is None, survivor.communicate()[1]
    report = wait_for(node, lambda r: not r.processes)
    assert report.gpus[0].plain_bytes == report.gpus[0].context_bytes == 0
    assert report.gpus[0].resident_blocks == 0


@pytest.mark.timed
def test_what_a_dead_process_held_is_back_within_100_ms_of_emulated_time(
    make_node: MakeNode, hammer: Path
) -> None:
    node = make_node("tiny", speed=1)
    with hammering(node, hammer, 1) as process:
        wait_for(node, lambda r: any(p.gpus[0].kernels for p in r.processes))
        process.kill()
        process.wait()
        died = read_report(node.folder).clock_ns
        report = wait_for(node, lambda r: not r.processes)
        assert report.clock_ns - died < 100_000_000
