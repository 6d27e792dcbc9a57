"""The effect of programs on each other on an emulated GPU, compared with one alone."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.report import read_report
from nvshare.lab.emulator.workload import Result, Run

from ..rates import rates

pytestmark = pytest.mark.timed

MakeNode = Callable[..., Node]
SHARING_LOSS = 1.107
PAGING = Path(__file__).parent / "programs" / "paging.py"


def together(node: Node, *programs: tuple[str, ...]) -> list[Result]:
    runs = [Run(node, *program) for program in programs]
    return [run.result(100) for run in runs]


def test_two_on_one_gpu_run_at_half_speed_less_the_sharing_loss(make_node: MakeNode) -> None:
    node = make_node("2xt4", speed=50, data="off")
    (alone,) = rates(node, 0)
    for rate in rates(node, 0, 0):
        assert rate == pytest.approx(alone / 2 / SHARING_LOSS, rel=0.03)


def test_on_two_gpus_both_run_at_full_speed(make_node: MakeNode) -> None:
    node = make_node("2xt4", speed=50, data="off")
    (alone,) = rates(node, 0)
    for rate in rates(node, 0, 1):
        assert rate == pytest.approx(alone, rel=0.03)


def test_two_that_do_not_fit_thrash(make_node: MakeNode) -> None:
    node = make_node("t4", speed=100, data="off")
    program = ("pytorch-add", "--managed", "--iterations", "10")
    alone = Run(node, *program[:2], "--iterations", "200").result(100)
    for result in together(node, program, program):
        assert alone.iterations_per_s / result.iterations_per_s > 10
    assert read_report(node.folder).gpus[0].evictions > 0


def test_plain_memory_that_does_not_fit_is_refused(make_node: MakeNode) -> None:
    node = make_node("t4", speed=100, data="off")
    first = Run(node, "pytorch-add")
    try:
        while not any(
            a.plain_bytes > 12e9 for p in read_report(node.folder).processes for a in p.gpus
        ):
            assert first.process.poll() is None
        second = Run(node, "pytorch-add")
        assert second.process.wait(60) == 1
        assert "CUDA_ERROR_OUT_OF_MEMORY" in second.process.communicate()[1]
    finally:
        first.stop()


def test_12_gb_come_in_at_bus_speed_by_prefetch_and_in_17_5_s_by_faults(
    make_node: MakeNode,
) -> None:
    node = make_node("t4", speed=100, data="off")
    output = subprocess.run(
        [sys.executable, str(PAGING)],
        env={**os.environ, **node.environment(library_folder(), {})},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    seconds = dict(line.rsplit(" ", 1) for line in output.splitlines())
    assert float(seconds["out by prefetch"]) == pytest.approx(1.046, rel=0.05)
    assert float(seconds["in by prefetch"]) == pytest.approx(1.046, rel=0.05)
    assert float(seconds["in by faults"]) == pytest.approx(17.5, rel=0.05)
