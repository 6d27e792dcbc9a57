"""How the time of simulated programs is divided: exact, and as the model itself saw it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvshare.lab.sim.engine import Outcome
from nvshare.lab.sim.record import Kind, Record
from nvshare.telemetry.time.client_time import Part, nanoseconds

from .making import GB, program, run
from .test_engine import programs, sharing

shares = st.sampled_from([{}, {}, {"compute": 30}, {"compute": 80}])


def check_sums(outcome: Outcome) -> None:
    """Every nanosecond from the arrival at the core to the end is in exactly one part."""
    for record in outcome.records:
        assert record.spent is not None
        assert all(value >= 0 for value in record.spent.values())
        end = outcome.ended if record.ended is None else record.ended
        assert sum(record.spent.values()) == nanoseconds(end) - nanoseconds(record.joined)


def seconds(record: Record) -> dict[str, float]:
    assert record.spent is not None
    return {part.value: value / 1e9 for part, value in record.spent.items() if value}


def drawn(record: Record, kind: Kind) -> float:
    """The time that the model itself noted."""
    return sum(span.end - span.begin for span in record.spans or () if span.kind is kind)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(programs, shares), min_size=1, max_size=3),
    st.sampled_from(["t4", "2xt4"]),
    sharing,
)
def test_all_time_is_accounted_for(
    listed: list[tuple[dict[str, Any], dict[str, Any]]], gpus: str, mode: dict[str, Any]
) -> None:
    outcome = run(*({**one, **share} for one, share in listed), gpus=gpus, settings=mode)
    check_sums(outcome)
    for record in outcome.records:
        assert record.spent is not None
        assert record.spent[Part.WAITING] <= nanoseconds(record.waited) + 1000  # rounded often


def test_who_grows_while_others_end_is_told_of_the_room_that_they_leave() -> None:
    """They end at the moment of the answer that there is no room for it yet."""
    small = {"name": "p", "count": 3, "phase": [{"memory": 2 * GB, "idle": 0.03}]}
    grows = [{"memory": 6 * GB}, {"memory": 13 * GB, "iterations": 18, "kernel_seconds": 0.3}]
    outcome = run({"name": "p", "phase": grows}, small)
    assert all(record.ended is not None for record in outcome.records)
    check_sums(outcome)


def test_who_is_alone_computes_and_is_idle_as_it_was_told_to() -> None:
    (record,) = run(program(0, 100, 0.02, idle=0.03)).records
    parts = seconds(record)
    assert parts["computing"] == pytest.approx(100 * 0.02, rel=1e-6)
    assert parts["idle"] >= 99 * 0.03
    assert set(parts) <= {"computing", "idle", "waiting"}
    assert parts.get("waiting", 0.0) < 0.01


def test_two_that_do_not_fit_compute_wait_and_move() -> None:
    outcome = run(
        {**program(12 * GB, 600, 0.1, touch=12 * GB), "count": 2}, settings={"turn_seconds": 10}
    )
    check_sums(outcome)
    # The second one's first turn begins when the first has made room for memory that is nowhere
    # yet. Its gate is closed for that, and nothing of it moves.
    for record, first_room in zip(outcome.records, (0.0, 0.8), strict=True):
        parts = seconds(record)
        assert parts["computing"] == pytest.approx(60, rel=0.03)
        moved = parts["memory_in"] - first_room
        assert moved == pytest.approx(drawn(record, Kind.IN), rel=0.01)
        assert parts["memory_out"] == pytest.approx(drawn(record, Kind.OUT), rel=0.03)
        # A move out while it waits counts as waiting, and as nothing else.
        assert parts["waiting"] + parts["memory_out"] == pytest.approx(record.waited, rel=0.01)


def test_who_has_a_share_is_held_back_by_it() -> None:
    outcome = run({**program(0, 500, 0.01), "compute": 25})
    check_sums(outcome)
    parts = seconds(outcome.records[0])
    assert parts["computing"] == pytest.approx(5, rel=0.02)
    assert parts["held_back"] == pytest.approx(15, rel=0.05)


def test_what_is_cut_off_is_accounted_for_until_then() -> None:
    outcome = run({**program(12 * GB, 10_000, 0.1), "count": 2}, until=100)
    check_sums(outcome)
    assert sum(seconds(record)["computing"] for record in outcome.records) > 80
