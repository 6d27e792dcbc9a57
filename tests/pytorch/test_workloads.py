"""The workloads, as they are, at the speeds that were measured on a T4.

A busy machine can only make them slower. So they run ahead of other processes where the user is
allowed to do that, and the best of several samples counts.
"""

import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median

import pytest

from nvshare.cli.lab.trial.realtime import ahead_of_others
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.report import Report, read_report

from .conftest import PATIENCE, SHARED, WORKLOADS, MakeNode, Start, finish

pytestmark = pytest.mark.timeout(900)

SPEED = 20
# Iterations per second on a T4, and kernels per iteration: PyTorch cuts the large arrays in two.
ADD, ADD_KERNELS = 25.83, 2
SMALL, SMALL_KERNELS = 103.6, 1
# A program launches as fast as it can until its queue is full, and tqdm's average forgets slowly.
AFTER_START = 3000
WINDOW_S = 20
LOOKS = 20
TRIES = 3


@pytest.fixture
def ahead() -> Iterator[None]:
    """Programs of this test come first."""
    with ahead_of_others():
        yield


def wait_until(node: Node, is_so: Callable[[Report], bool]) -> Report:
    deadline = time.monotonic() + PATIENCE
    while not is_so(report := read_report(node.folder)):
        assert time.monotonic() < deadline, report
        time.sleep(0.02)
    return report


def kernels(report: Report, pid: int) -> int:
    process = report.process(pid)
    return sum(account.kernels for account in process.gpus) if process else 0


def best_rates(
    node: Node, started: Sequence["subprocess.Popen[str]"], kernels_each: int, enough: float
) -> list[float]:
    """Iterations per second of programs that run side by side, as the emulated GPUs count them."""
    pids = [process.pid for process in started]
    best = [0.0] * len(pids)
    before = wait_until(node, lambda r: all(kernels(r, pid) > 50 for pid in pids))
    for _ in range(LOOKS):
        end = before.clock_ns + WINDOW_S * 1e9
        after = wait_until(node, lambda r, end=end: r.clock_ns > end)  # type: ignore[misc]
        passed = (after.clock_ns - before.clock_ns) / 1e9
        for place, pid in enumerate(pids):
            done = (kernels(after, pid) - kernels(before, pid)) / kernels_each
            best[place] = max(best[place], done / passed)
        if min(best) >= enough:
            break
        before = after
    return best


def shown_rates(log: str) -> list[float]:
    """The rates between lines of tqdm, towards the end but not at it."""
    shown = re.findall(r"(\d+)/\d+ \[[^,]*, +([\d.]+)it/s\]", log)
    return [float(rate) for count, rate in shown[:-1] if int(count) > AFTER_START]


@pytest.mark.usefixtures("ahead")
@pytest.mark.parametrize(
    ("launcher", "allocator"),
    [((), ""), (SHARED, ""), ((), "expandable_segments:True")],
)
def test_the_rate_that_tqdm_shows(
    make_node: MakeNode, start: Start, launcher: tuple[str, ...], allocator: str
) -> None:
    """The rate does not depend on how the memory of an addition was allocated."""
    environment = {"PYTORCH_ALLOC_CONF": allocator}
    program = WORKLOADS / "pytorch_add.py"
    wanted = pytest.approx(ADD, rel=0.03)
    for _ in range(TRIES):
        node = make_node("1xt4", speed=SPEED, data="off")
        _, log = finish(start(node, program, launcher=launcher, environment=environment))
        shown = shown_rates(log)
        assert len(shown) > 5
        if median(shown) / SPEED == wanted:
            break
    assert median(shown) / SPEED == wanted


@pytest.mark.usefixtures("ahead")
@pytest.mark.parametrize(
    ("program", "kernels_each", "alone"),
    [("pytorch_add.py", ADD_KERNELS, ADD), ("pytorch_add_small.py", SMALL_KERNELS, SMALL)],
)
def test_one_program_per_gpu_runs_as_if_alone(
    make_node: MakeNode, start: Start, program: str, kernels_each: int, alone: float
) -> None:
    node = make_node("2xt4", speed=5, data="off")
    started = [
        start(
            node,
            WORKLOADS / program,
            *("--iterations", "1000000"),
            launcher=(*SHARED[:-1], "--gpu", gpu, "--"),
        )
        for gpu in "01"
    ]
    for rate in best_rates(node, started, kernels_each, 0.995 * alone):
        assert rate == pytest.approx(alone, rel=0.01)


def test_training_under_memory_pressure(make_node: MakeNode, start: Start) -> None:
    started = [
        start(make_node("1xt4"), WORKLOADS / "pytorch_train.py", "--steps", "16", launcher=launcher)
        for launcher in ((), SHARED)
    ]
    for process in started:
        output, _ = finish(process)
        found = re.fullmatch(
            r"16 steps, (\d+) batches halved\npeak (\d+) MiB, retries (\d+)\n", output
        )
        assert found, output
        halved, peak, retries = map(int, found.groups())
        assert 0 < halved < 16
        assert peak > 13_000
        assert retries > halved


def test_inference_in_bursts(make_node: MakeNode, start: Start) -> None:
    arguments = ("--bursts", "10", "--requests", "30", "--sleep", "0.02")
    started = [
        start(make_node("1xt4"), WORKLOADS / "pytorch_infer.py", *arguments, launcher=launcher)
        for launcher in ((), SHARED)
    ]
    for process in started:
        assert finish(process)[0].startswith("300 requests\np50 ")
