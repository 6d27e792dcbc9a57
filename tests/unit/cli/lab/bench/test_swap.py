from dataclasses import replace
from typing import Any

from nvshare.cli.lab.bench.swap import _figures, _limit_seconds, _Look
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.report import GpuReport

GB = 10**9
(T4,) = parse_gpus("t4")


def look(turn_changes: int, moved_in: int, **gpu: int) -> _Look:
    facts: dict[str, Any] = dict.fromkeys(GpuReport.__dataclass_fields__, 0)
    return _Look(GpuReport(**{**facts, "uuid": "", **gpu}), turn_changes, moved_in)


BEFORE = look(3, 0)
AFTER = look(13, 100 * GB, clock=30 * GB, busy_ns=18 * GB, out_bytes=90 * GB, in_bytes=100 * GB)


def test_what_a_change_of_turn_costs() -> None:
    line = _figures(BEFORE, AFTER, T4)
    assert (line["turn_changes"], line["out_bytes"], line["in_bytes"]) == (10, 9 * GB, 10 * GB)
    assert line["seconds"] == 1.2
    assert line["resent_bytes"] == line["faults"] == line["evictions"] == 0


def test_bytes_that_came_in_twice_are_those_that_nobody_accounts_for() -> None:
    after = replace(AFTER, moved_in=99 * GB)
    assert _figures(BEFORE, after, T4)["resent_bytes"] == GB


def test_the_limit_is_the_larger_direction() -> None:
    assert _limit_seconds(9 * GB, 12 * GB, T4) == 1.0
    assert _limit_seconds(24 * GB, 12 * GB, T4) == 2.0
