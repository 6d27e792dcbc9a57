"""The progress of programs while they run side by side, as the emulated GPUs count it."""

import time
from collections.abc import Callable, Sequence

from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.report import Report, read_report
from nvshare.lab.emulator.workload import Run
from tests.integration.pauses import pauses

WINDOW_NS = 60_000_000_000


def rates(
    node: Node,
    *devices: int,
    prefix: Sequence[str] = (),
    look: Callable[[], None] = lambda: None,
) -> list[float]:
    """Return the iterations per second of programs while all of them run, as the GPUs count.

    Not from their beginning to their end: they start one after the other, and a late one is alone
    at the end. ``look`` is called while all run.
    """
    program = ("pytorch-add-small", "--iterations", "1000000")
    runs = [Run(node, *program, "--device", str(device), prefix=prefix) for device in devices]
    try:
        pids = [run.process.pid for run in runs]
        before = wait_until(node, lambda r: all(done(r, pid) > 100 for pid in pids))
        after = wait_until(node, lambda r: r.clock_ns > before.clock_ns + WINDOW_NS)
        look()
        seconds = (after.clock_ns - before.clock_ns) / 1e9
        return [(done(after, pid) - done(before, pid)) / seconds for pid in pids]
    finally:
        for run in runs:
            run.stop()


def done(report: Report, pid: int) -> int:
    process = report.process(pid)
    return sum(account.kernels for account in process.gpus) if process else 0


def wait_until(node: Node, is_so: Callable[[Report], bool]) -> Report:
    deadline = time.monotonic() + 60
    pause = pauses()
    while not is_so(report := read_report(node.folder)):
        assert time.monotonic() < deadline, report
        time.sleep(next(pause))
    return report
