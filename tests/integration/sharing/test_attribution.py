"""The attribution of real programs' time, compared with the records of the emulated GPU.

The GPU knows how long it computed for each program, and how long memory moved. The daemon gets
neither from it. It knows only the reports of programs, and its own orders.
"""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nvshare.lab.emulator.report import Report, read_report
from nvshare.lab.emulator.workload import installed_program
from nvshare.launch.preload import Wishes
from nvshare.telemetry.snapshot import ClientStatus, NodeStatus

from .conftest import Sharing

pytestmark = [pytest.mark.timed, pytest.mark.usefixtures("ahead")]

Share = Callable[..., Sharing]
SECOND = 1e9
# The permitted error, as a part of the observed time.
TOLERANCE = 0.03


@pytest.fixture
def short_turns(tmp_path: Path) -> dict[str, str]:
    """Settings with which turns change every two seconds."""
    config = tmp_path / "config.toml"
    config.write_text("[gpu]\nturn_seconds = 2\n")
    return {"NVSHARE_CONFIG": str(config)}


def start(sharing: Sharing, *options: str, wishes: Wishes | None = None) -> int:
    """Start a program that runs kernels until it is told to end; return its pid."""
    program = installed_program("workloads", "driver-kernels")
    return sharing.start(program, *options, wishes=wishes).pid


def client_of(status: NodeStatus, pid: int) -> ClientStatus:
    (found,) = (client for client in status.clients if client.pid == pid)
    return found


class Span:
    """The changes between two samples of daemon and GPU."""

    def __init__(self, sharing: Sharing, seconds: float) -> None:
        self._before = self._look(sharing)
        time.sleep(seconds)
        self._after = self._look(sharing)

    @staticmethod
    def _look(sharing: Sharing) -> tuple[NodeStatus, Report]:
        return sharing.daemon().status(), read_report(sharing.node.folder)

    @property
    def seconds(self) -> float:
        return self._after[0].uptime_seconds - self._before[0].uptime_seconds

    def parts(self, pid: int) -> dict[str, float]:
        """The attribution of the program's time, by the daemon."""
        before, after = (
            client_of(status, pid).attribution.model_dump()
            for status in (self._before[0], self._after[0])
        )
        return {part: after[part] - before[part] for part in after}

    def computed(self, pid: int) -> float:
        """How long the GPU has worked for the program, by the GPU."""
        before, after = (
            sum(account.compute_ns for account in process.gpus)
            for report in (self._before[1], self._after[1])
            if (process := report.process(pid)) is not None
        )
        return (after - before) / SECOND / self._after[1].speed

    def moving(self) -> float:
        """How long memory moved, by the GPU."""
        before, after = (report.gpus[0].moving_ns for _, report in (self._before, self._after))
        return (after - before) / SECOND / self._after[1].speed

    def check_sum(self, *pids: int) -> None:
        for pid in pids:
            assert sum(self.parts(pid).values()) == pytest.approx(self.seconds, rel=0.01)


def test_who_is_alone_computes_all_the_time(share: Share) -> None:
    sharing = share("1xt4", data="off")
    pid = start(sharing, "--kernel", "0.005", "--memory", str(1 << 30))
    sharing.until_status(lambda now: any(one.launches for one in now.clients))
    span = Span(sharing, 5)
    span.check_sum(pid)
    assert span.parts(pid)["computing"] == pytest.approx(span.computed(pid), rel=TOLERANCE)


def test_who_rests_between_bursts_is_idle_meanwhile(share: Share) -> None:
    sharing = share("1xt4", data="off")
    pid = start(sharing, "--kernel", "0.005", "--burst", "40", "--rest", "0.2")
    sharing.until_status(lambda now: any(one.launches for one in now.clients))
    # At each end of the span, up to a quarter of a second is not reported yet.
    span = Span(sharing, 10)
    span.check_sum(pid)
    parts = span.parts(pid)
    assert abs(parts["computing"] - span.computed(pid)) < TOLERANCE * span.seconds
    assert parts["idle"] == pytest.approx(span.seconds - span.computed(pid), rel=0.1)


def test_who_has_a_share_is_held_back_by_it(share: Share) -> None:
    sharing = share("1xt4", data="off")
    pid = start(sharing, "--kernel", "0.005", wishes=Wishes(compute_percent=30))
    sharing.until_status(lambda now: any(one.throttled_seconds > 1 for one in now.clients))
    span = Span(sharing, 6)
    span.check_sum(pid)
    parts = span.parts(pid)
    assert abs(parts["computing"] - span.computed(pid)) < TOLERANCE * span.seconds
    assert parts["held_back"] == pytest.approx(0.7 * span.seconds, rel=0.1)


@pytest.mark.parametrize("allocation", ["managed", "explicit"])
def test_two_that_do_not_fit_wait_for_each_other_and_move(
    share: Share, short_turns: dict[str, str], allocation: str
) -> None:
    sharing = share("1xt4", speed=2, data="off", settings=short_turns)
    options = ("--kernel", "0.005", "--memory", str(11 << 30))
    wishes = Wishes(allocation=allocation)
    pids = [start(sharing, *options, wishes=wishes) for _ in range(2)]
    sharing.until_status(lambda now: sum(one.turns > 1 for one in now.clients) == 2)
    span = Span(sharing, 12)
    span.check_sum(*pids)
    for pid in pids:
        parts = span.parts(pid)
        assert abs(parts["computing"] - span.computed(pid)) < TOLERANCE * span.seconds
        assert parts["waiting"] > 0.2 * span.seconds
        assert parts["memory_in"] > 0.05 * span.seconds
    if allocation == "managed":
        # At a change of turn, memory of one program goes out while that of the other comes in, and
        # the gate of the other is closed while anything moves. To the GPU, explicit moves are just
        # copies.
        came = sum(span.parts(pid)["memory_in"] for pid in pids)
        assert abs(came - span.moving()) < TOLERANCE * span.seconds
