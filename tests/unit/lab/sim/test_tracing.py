"""The trace of a simulation adds up to its figures, and is a file that viewers can read."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvshare.lab.sim.engine import Outcome
from nvshare.telemetry.time.client_time import nanoseconds
from nvshare.telemetry.trace.chrome import trace_events
from nvshare.telemetry.trace.recording import STARTING, Life
from tests.trace_rules import check_trace, slices_of

from .making import GB, program, run
from .test_engine import programs, sharing
from .test_time import shares


def lives_of(outcome: Outcome) -> list[Life]:
    recording = outcome.recording("test")
    lives = {life.program.id: life for life in recording.lives}
    assert recording.end == nanoseconds(outcome.ended)
    return [lives[key] for key in range(len(outcome.records))]


def check_sums(outcome: Outcome) -> None:
    for record, life in zip(outcome.records, lives_of(outcome), strict=True):
        spent = dict.fromkeys((part.value for part in record.spent or ()), 0)
        for one in life.spent:
            if one.state != STARTING:
                spent[one.state] += one.end - one.begin
        assert spent == {part.value: value for part, value in (record.spent or {}).items()}
        assert sum(move.bytes_out for move in life.moves) <= record.moved_out


@settings(deadline=None, max_examples=20)
@given(
    st.lists(st.tuples(programs, shares), min_size=1, max_size=3),
    st.sampled_from(["t4", "2xt4"]),
    sharing,
)
def test_every_scenario_adds_up(
    listed: list[tuple[dict[str, Any], dict[str, Any]]], gpus: str, mode: dict[str, Any]
) -> None:
    outcome = run(*({**one, **share} for one, share in listed), gpus=gpus, settings=mode)
    check_sums(outcome)
    check_trace(trace_events([outcome.recording("test")], "test"))


def test_two_that_do_not_fit() -> None:
    outcome = run(
        {**program(12 * GB, 600, 0.1, touch=12 * GB), "count": 2}, settings={"turn_seconds": 10}
    )
    check_sums(outcome)
    for record, life in zip(outcome.records, lives_of(outcome), strict=True):
        assert len(life.turns) == record.turns
        assert sum(move.bytes_in for move in life.moves) == record.moved_in
        assert sum(move.bytes_out for move in life.moves) == record.moved_out
    first, second = lives_of(outcome)
    # They take turns: while one computes, the other does not.
    for mine in (one for one in first.spent if one.state == "computing"):
        for other in (one for one in second.spent if one.state == "computing"):
            assert mine.end <= other.begin or other.end <= mine.begin
    recording = outcome.recording("test")
    (gpu,) = recording.gpus
    levels = recording.levels[gpu.uuid]
    # As the core hears it: both have 12 GB, and memory is there until it has left.
    assert max(level.away for level in levels) > 9 * GB
    assert all(level.on_gpu <= gpu.usable * 1.01 for level in levels)
    assert levels[-1].on_gpu == levels[-1].away == 0


def test_who_has_a_share_is_seen_to_be_held_back() -> None:
    outcome = run({**program(0, 500, 0.01), "compute": 25})
    trace = trace_events([outcome.recording("test")], "test")
    held = sum(end - begin for begin, end in slices_of(trace, "p", "held_back"))
    assert held == pytest.approx(15, rel=0.05)


def test_who_starts_is_seen_before_it_comes_to_the_core() -> None:
    (life,) = lives_of(run({**program(0, 10), "startup": 2.0, "arrival": 1.0}))
    assert (life.spent[0].state, life.spent[0].begin) == (STARTING, nanoseconds(1.0))
    assert life.seconds(STARTING) >= 2.0


def test_policies_are_processes_of_their_own() -> None:
    recordings = [run({**program(GB, 50), "count": 2}).recording(name) for name in ("a", "b")]
    trace = trace_events(recordings, "both")
    check_trace(trace)
    names = [e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"]
    assert names == ["a: GPU 0 Tesla T4", "b: GPU 0 Tesla T4"]


def test_what_was_not_recorded_cannot_be_drawn() -> None:
    outcome = run(program(0, 1))
    with pytest.raises(ValueError, match="not recorded"):
        type(outcome)(outcome.scenario, (), (), (), 0.0, 0).recording("x")
