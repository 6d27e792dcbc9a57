"""Ranks that meet on their GPUs: alone, together, and with gangs switched off."""

import pytest

from nvshare.core.effects import ReportKind
from nvshare.lab.sim.engine import Outcome
from nvshare.lab.sim.meeting import Meeting
from nvshare.lab.sim.site import Site

from .making import GB, durations, run

RANKS = {"name": "gang", "ranks": [0, 1]}


def gang(memory: int, iterations: int = 100, seconds: float = 0.01) -> dict[str, object]:
    phase = {"memory": memory, "iterations": iterations, "kernel_seconds": seconds}
    return {**RANKS, "phase": [phase]}


def test_all_are_called_when_the_last_has_come() -> None:
    meeting, met = Meeting(2), list[str]()
    meeting.come(lambda: met.append("first"))
    assert met == []
    meeting.come(lambda: met.append("second"))
    assert met == ["first", "second"]
    meeting.come(lambda: met.append("third"))
    meeting.leave()
    assert met == ["first", "second", "third"]


def test_a_rank_is_as_fast_as_the_slowest() -> None:
    outcome = run(
        gang(GB),
        {"name": "other", "gpu": 1, "phase": [{"iterations": 100, "kernel_seconds": 0.01}]},
        gpus="2xt4",
        settings={"lab": {"slice_seconds": 0.0}},
    )
    first, second, _ = durations(outcome)
    assert first == pytest.approx(second)
    # The other one has half of GPU 1 for as long as it is there.
    assert 2.0 < first < 2.6


def two_gangs(**settings: object) -> Outcome:
    """Two gangs that do not fit together, on GPUs whose turns are of different lengths."""
    gangs = [gang(12 * GB, 300), gang(12 * GB, 300)]
    device = {1: {"turn_seconds": 3.1}}
    return run(*gangs, gpus="2xt4", settings={"turn_seconds": 2.0, **settings}, device=device)


def test_two_gangs_that_do_not_fit_together_take_turns_as_wholes() -> None:
    outcome = two_gangs()
    assert not any(_overdue(site) for site in outcome.sites)
    first, same, second, again = (record.turns for record in outcome.records)
    assert (first, second) == (same, again)
    assert min(first, second) >= 2
    # Turns of 3 s, with moves of 2 s in between.
    assert max(durations(outcome)) < 15.0


def test_with_gangs_switched_off_they_lock_each_other_up() -> None:
    """This shows that gangs are needed: ranks wait for each other until patience ends."""
    outcome = two_gangs(gangs=False, revoke_patience=5.0)
    assert any(_overdue(site) for site in outcome.sites)
    assert max(durations(outcome)) > max(durations(two_gangs()))


def _overdue(site: Site) -> bool:
    return any(report.kind is ReportKind.OVERDUE for report in site.reports)
