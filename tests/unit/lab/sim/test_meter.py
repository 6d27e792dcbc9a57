"""The core's picture of programs, and how few reports it needs."""

from typing import Any

import pytest

from nvshare.core.events import Event, Used
from nvshare.lab.sim.engine import Outcome
from nvshare.lab.sim.site import Site

from .making import GB, program, run

LONG = {"lab": {"slice_seconds": 1.0}}


def reports(*programs: dict[str, Any], **fields: Any) -> tuple[Outcome, int]:
    """Simulate, and count the reports."""
    sent = []
    send = Site.send

    def note(site: Site, event: Event) -> None:
        if isinstance(event, Used):
            sent.append(event)
        send(site, event)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Site, "send", note)
        outcome = run(*programs, **fields)
    return outcome, len(sent)


def test_hours_of_computing_cost_a_few_reports() -> None:
    _, sent = reports(program(1 * GB, 1_000_000), settings=LONG)
    assert 1 <= sent <= 3


def test_who_rests_most_of_the_time_hardly_reports() -> None:
    outcome, sent = reports({**program(1 * GB, 200, 0.01, idle=0.1), "count": 2}, settings=LONG)
    assert sent < 0.5 * 2 * outcome.ended
    assert outcome.sites[0].core_view.slices == 0


def test_who_computes_and_then_rests_for_long_is_found_out_both_ways() -> None:
    rests = {
        "name": "rests",
        "phase": [
            {"memory": 1 * GB, "iterations": 1000, "kernel_seconds": 0.01},
            {"wait": 20.0, "iterations": 10, "kernel_seconds": 0.01},
        ],
    }
    # While the first one rests, the other is alone with its work, and takes no turns.
    outcome, sent = reports(rests, program(1 * GB, 3000), settings=LONG)
    assert 8 <= outcome.sites[0].core_view.slices <= 22
    assert sent < 20


def test_where_nobody_takes_short_turns_nothing_is_reported() -> None:
    _, sent = reports(
        {**program(1 * GB, 1000), "count": 2}, settings={"lab": {"slice_seconds": 0.0}}
    )
    assert sent == 0


def test_turns_need_no_reports() -> None:
    outcome, sent = reports({**program(1 * GB, 3000), "count": 2}, settings=LONG)
    assert outcome.sites[0].core_view.slices > 50
    assert sent <= 8
