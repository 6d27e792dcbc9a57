"""Programs with a share of a GPU's time get that share, as the GPU itself counts it.

Every sample asserts that no program gets more, which holds however slow the machine is. The lower
bound holds only on a machine that is not too busy, and so the test waits for it.
"""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from nvshare.cli.lab.trial.realtime import ahead_of_others
from nvshare.lab.emulator.report import Report
from nvshare.lab.emulator.workload import installed_program
from nvshare.launch.preload import Wishes
from nvshare.telemetry.snapshot import ClientStatus

from .conftest import Sharing

pytestmark = pytest.mark.timed

Share = Callable[..., Sharing]
SECOND = 1_000_000_000
# The largest credit of a program: the window of a share, while programs take turns at the GPU.
WINDOW_NS = SECOND // 5
KERNEL_NS = 5_000_000
# If a program has less than this part of its share for long, a busy machine is not the only cause.
ENOUGH = 0.8


@pytest.fixture(autouse=True)
def ahead() -> Iterator[None]:
    """Run ahead of other processes on this machine, where the user is allowed to do that."""
    with ahead_of_others(2):
        yield


@pytest.fixture
def soon(tmp_path: Path) -> dict[str, str]:
    """Settings with which the daemon soon knows the programs that compute all the time."""
    config = tmp_path / "config.toml"
    config.write_text("[gpu.lab]\nslice_seconds = 0.2\n")
    return {"NVSHARE_CONFIG": str(config)}


@dataclass(frozen=True)
class Program:
    """A program that computes all the time, unless its options say otherwise."""

    process: "subprocess.Popen[str]"
    percent: int
    # The longest of its calls. The last one may exceed the remaining share.
    call_ns: int

    @property
    def pid(self) -> int:
        return self.process.pid


def start(
    sharing: Sharing,
    percent: int,
    *options: str,
    gpu: int = 0,
    call_ns: int = KERNEL_NS,
    variables: dict[str, str] | None = None,
) -> Program:
    command = [str(installed_program("workloads", "driver-kernels")), *options]
    wishes = Wishes(compute_percent=percent)
    process = sharing.start(*command, "--device", str(gpu), wishes=wishes, **(variables or {}))
    return Program(process, percent, call_ns)


def computed(report: Report, program: Program) -> int:
    process = report.process(program.pid)
    return sum(account.compute_ns for account in process.gpus) if process else 0


def status_of(sharing: Sharing, program: Program) -> ClientStatus:
    def is_there(seen: Sequence[ClientStatus]) -> bool:
        return any(client.pid == program.pid for client in seen)

    status = sharing.until_status(lambda status: is_there(status.clients))
    return next(client for client in status.clients if client.pid == program.pid)


def used(before: Report, after: Report, program: Program) -> int:
    """The program's GPU time between two samples, which must be within its share."""
    took = computed(after, program) - computed(before, program)
    passed = after.clock_ns - before.clock_ns + WINDOW_NS
    assert took <= passed * program.percent / 100 + program.call_ns, program
    return took


def keep_to_their_shares(sharing: Sharing, *programs: Program, seconds: float = 1.5) -> None:
    """Sample until each has had its share for a while; none may ever have more."""
    first = before = sharing.until_report(lambda r: all(computed(r, p) for p in programs))

    def have_enough(report: Report) -> bool:
        nonlocal before
        for program in programs:
            used(first, report, program)
        if (passed := report.clock_ns - before.clock_ns) < seconds * SECOND:
            return False
        least = {p.pid: ENOUGH * passed * p.percent / 100 for p in programs}
        begin, before = before, report
        return all(used(begin, report, p) >= least[p.pid] for p in programs)

    sharing.until_report(have_enough)


def test_alone_a_program_gets_its_share_however_it_launches(share: Share) -> None:
    sharing = share("6xt4", data="off")
    graph = ("--graph-kernels", "4", "--style")
    programs = [
        start(sharing, 40, "--style", "async"),
        start(sharing, 30, "--style", "sync", gpu=1),
        start(sharing, 60, *graph, "graph", gpu=2, call_ns=4 * KERNEL_NS),
        # It would fail if anything but its kernels went into the graph.
        start(sharing, 50, *graph, "capture", gpu=3, call_ns=4 * KERNEL_NS),
        # When the second kernel could begin, the duration of the first is not known yet.
        start(sharing, 50, "--kernel", "0.5", gpu=4, call_ns=SECOND // 2),
    ]
    modest = start(sharing, 50, "--style", "sync", "--burst", "1", "--rest", "0.02", gpu=5)
    keep_to_their_shares(sharing, *programs, seconds=2.0)
    sharing.until_report(lambda report: computed(report, modest) > 10 * KERNEL_NS)
    assert status_of(sharing, modest).throttled_seconds == 0
    assert all(status_of(sharing, program).throttled_seconds > 0 for program in programs)


def test_two_on_one_gpu_get_their_shares(share: Share, soon: dict[str, str]) -> None:
    sharing = share("t4", data="off", settings=soon)
    programs = [start(sharing, 30), start(sharing, 60, "--style", "sync")]
    keep_to_their_shares(sharing, *programs)


def test_beside_one_that_rests_now_and_then_a_program_gets_its_share(share: Share) -> None:
    """Both are there at the same time, and a kernel that waits for the other's takes longer."""
    sharing = share("t4", data="off")
    program = start(sharing, 30)
    resting = ("--style", "sync", "--burst", "4", "--rest", "0.02")
    start(sharing, 100, *resting)
    before = sharing.until_report(lambda report: computed(report, program) > 0)

    def has_enough(report: Report) -> bool:
        nonlocal before
        if (passed := report.clock_ns - before.clock_ns) < 2 * SECOND:
            return False
        begin, before = before, report
        # Three quarters is its part if it were billed for the other's time.
        return 0.9 <= used(begin, report, program) / (0.3 * passed) <= 1.1

    sharing.until_report(has_enough)


def test_a_hundred_changes_in_a_row_take_effect(share: Share) -> None:
    sharing = share("t4", data="off")
    program = start(sharing, 50)
    sharing.until_report(lambda report: computed(report, program) > 0)
    for number in range(100):
        percent = 10 + number % 80
        shown = sharing.daemon().change_limits(str(program.pid), {"compute_percent": percent})
        assert shown.limits.compute_percent == percent
    sharing.daemon().change_limits(str(program.pid), {"compute_percent": 20})
    keep_to_their_shares(sharing, Program(program.process, 20, KERNEL_NS), seconds=1.0)

    sharing.daemon().change_limits(str(program.pid), {"compute_percent": None})
    keep_to_their_shares(sharing, Program(program.process, 100, KERNEL_NS), seconds=0.5)
    before = status_of(sharing, program)
    sharing.until_status(lambda s: s.clients[0].busy_seconds > before.busy_seconds + 0.3)
    assert status_of(sharing, program).throttled_seconds == before.throttled_seconds


def test_a_share_outlives_the_daemon(share: Share) -> None:
    sharing = share("t4", data="off")
    program = start(sharing, 30)
    sharing.until_report(lambda report: computed(report, program) > 0)
    pid = sharing.daemon().status().pid
    os.kill(pid, signal.SIGKILL)
    keep_to_their_shares(sharing, program, seconds=0.5)
    sharing.start_daemon()
    assert status_of(sharing, program).limits.compute_percent == 30
    keep_to_their_shares(sharing, program, seconds=0.5)


def test_with_burst_a_program_has_more_until_another_wants_it(
    share: Share, soon: dict[str, str]
) -> None:
    sharing = share("t4", data="off", settings=soon)
    bursting = start(sharing, 20, variables={"NVSHARE_GPU_BURST": "1"})
    as_if_alone = Program(bursting.process, 100, KERNEL_NS)
    keep_to_their_shares(sharing, as_if_alone, seconds=0.5)

    other = start(sharing, 80)

    def both_have_theirs(before: Report, after: Report) -> bool:
        passed = after.clock_ns - before.clock_ns
        took = [computed(after, one) - computed(before, one) for one in (bursting, other)]
        return took[0] <= 0.25 * passed and took[1] >= 0.65 * passed

    looks = [sharing.until_report(lambda report: computed(report, other) > 0)]

    def is_so(report: Report) -> bool:
        if report.clock_ns < looks[-1].clock_ns + SECOND // 2:
            return False
        looks.append(report)
        return both_have_theirs(*looks[-2:])

    sharing.until_report(is_so)
