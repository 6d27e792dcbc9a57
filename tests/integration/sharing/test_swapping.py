"""Programs that do not fit together take turns, and their memory moves in bulk: never by faults."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from nvshare.lab.emulator.report import Report, read_report
from nvshare.lab.emulator.workload import workload_command
from nvshare.telemetry.snapshot import NodeStatus

from .conftest import Sharing

pytestmark = pytest.mark.timed

Share = Callable[..., Sharing]
MIB = 1 << 20
# Four arrays of 28000 x 28000 floats, and the rest of a T4 for the other program.
NEED = 4 * 2992 * MIB
QUIET_NS = 1_000_000_000


@dataclass(frozen=True)
class Change:
    """One change of turn, as the GPU saw it."""

    out_bytes: int
    in_bytes: int
    faults: int
    evictions: int
    lag_bytes: int
    """How far what came in was behind what had left, at most."""


def changes(sharing: Sharing, count: int) -> list[Change]:
    """Watch changes of turn: from when bytes begin to move until none do for a while."""
    seen: list[Change] = []
    lag = 0
    before = last = read_report(sharing.node.folder)
    deadline = time.monotonic() + 60
    while len(seen) < count:
        assert time.monotonic() < deadline, seen
        time.sleep(0.002)
        now = read_report(sharing.node.folder)
        if _moved(last) != _moved(now):
            last = now
            so_far = _change(before, now, 0)
            lag = max(lag, so_far.out_bytes - so_far.in_bytes)
        elif _moved(before) == _moved(now):
            before = last = now
        elif now.clock_ns - last.clock_ns > QUIET_NS:
            seen.append(_change(before, last, lag))
            before, last, lag = now, now, 0
    return seen


def _moved(report: Report) -> tuple[int, int]:
    return report.gpus[0].in_bytes, report.gpus[0].out_bytes


def _change(before: Report, after: Report, lag: int) -> Change:
    was, now = before.gpus[0], after.gpus[0]
    return Change(
        now.out_bytes - was.out_bytes,
        now.in_bytes - was.in_bytes,
        now.faults - was.faults,
        now.evictions - was.evictions,
        lag,
    )


def _evicted(change: Change) -> float:
    """Return which part of the memory that has left was pushed out by the driver."""
    return change.evictions * 2 * MIB / change.out_bytes


def test_two_programs_of_12_gb_alternate_on_one_t4(share: Share) -> None:
    """The first programs move memory out, and displace it, in turn: the daemon tries both."""
    sharing = share("t4", speed=8, data="off")
    sharing.daemon().change_devices("all", {"turn_seconds": 0.8})
    add = workload_command("pytorch-add", "--iterations", "1000000")
    programs = [sharing.start(*add) for _ in range(2)]
    sharing.until_status(lambda s: all(c.turns >= 1 for c in s.clients) and len(s.clients) == 2)
    sharing.until_report(lambda r: sum(p.gpus[0].resident_bytes for p in r.processes) > NEED)
    seen = changes(sharing, 5)[1:]
    status = sharing.daemon().status()
    room = status.devices[0].usable - sum(client.context for client in status.clients)
    assert all(change.faults == 0 for change in seen)
    for displaced in (False, True):
        # On a busy machine a turn may be over before its memory is there, and moves in may be
        # delayed. `nvshare bench` measures the time; here one correct change of each is enough.
        alike = [change for change in seen if (_evicted(change) > 0.5) is displaced]
        best = min(alike, key=lambda change: change.lag_bytes)
        assert best.out_bytes == pytest.approx(2 * NEED - room, rel=0.05)
        # Where memory was displaced, a little more comes in than has left, and less the next time.
        assert best.in_bytes == pytest.approx(best.out_bytes, rel=0.05)
        assert best.lag_bytes < 0.2 * best.in_bytes
        assert _evicted(best) == pytest.approx(float(displaced), abs=0.02)
    compare_with_status(sharing)
    for program in programs:
        program.terminate()
    # No warnings.
    assert [program.communicate()[1] for program in programs] == ["", ""]


def compare_with_status(sharing: Sharing) -> None:
    """The daemon's count of moved bytes equals that of the GPU, between two changes."""

    def agree(status: NodeStatus) -> bool:
        gpu, totals = read_report(sharing.node.folder).gpus[0], status.devices[0].totals
        pairs = ((totals.moved_in, gpu.moved_in_bytes), (totals.moved_out, gpu.moved_out_bytes))
        return all(told == pytest.approx(counted, rel=0.01) for told, counted in pairs)

    sharing.until_status(lambda status: all(c.turns >= 5 for c in status.clients))
    sharing.until_status(agree)
