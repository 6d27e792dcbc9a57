"""Memory of the next program comes in when another one ends, before the turn changes."""

import pytest

from nvshare.lab.sim.engine import Outcome, simulate
from nvshare.lab.sim.record import Kind, Record, Span
from nvshare.lab.sim.scenario import Scenario

GB = 10**9
ENDS_AT = 45.2
SCENARIO = Scenario.model_validate(
    {
        "name": "ahead",
        "gpus": "t4",
        "until": 100.0,
        "program": [
            {
                "name": "large",
                "phase": [
                    {"memory": 12 * GB, "copy_in": 12 * GB},
                    {"wait": 0.001, "iterations": 2000, "kernel_seconds": 0.04},
                ],
            },
            {
                "name": "stays",
                "arrival": 2.0,
                "phase": [
                    {"memory": 4 * GB, "copy_in": 4 * GB},
                    {"wait": 0.001, "iterations": 3000, "kernel_seconds": 0.04},
                ],
            },
            {
                "name": "ends",
                "arrival": 35.0,
                "phase": [
                    {"memory": 8 * GB, "copy_in": 8 * GB},
                    {"wait": 0.001, "iterations": 100, "kernel_seconds": 0.04},
                ],
            },
        ],
    }
)


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return simulate(SCENARIO, check=True, picture=True)


def record(outcome: Outcome, name: str) -> Record:
    (found,) = (one for one in outcome.records if one.name == name)
    return found


def spans(outcome: Outcome, kind: Kind) -> list[Span]:
    return [span for span in record(outcome, "large").spans or () if span.kind is kind]


def test_it_comes_as_soon_as_there_is_room_and_the_turn_begins_with_the_rest(
    outcome: Outcome,
) -> None:
    ahead, rest = spans(outcome, Kind.IN)
    (wait,) = (span for span in spans(outcome, Kind.WAIT) if span.end > ENDS_AT)
    assert wait.begin < ENDS_AT < ahead.begin < ahead.end < wait.end - 5
    assert rest.begin == pytest.approx(wait.end, abs=0.001)
    # All but 1.3 GB have come by then.
    assert rest.end - rest.begin == pytest.approx(1.26 * GB / 10.5e9, rel=0.05)
    assert record(outcome, "large").moved_in == pytest.approx(9.59 * GB, rel=0.01)


def test_who_runs_computes_on(outcome: Outcome) -> None:
    """Beside a fill ahead: it is on the GPU from its first turn to the end of that turn."""
    stays = record(outcome, "stays")
    runs = [span for span in stays.spans or () if span.kind is Kind.RUN]
    ahead, _ = spans(outcome, Kind.IN)
    assert any(run.begin < ahead.begin and run.end > ahead.end for run in runs)
    assert stays.moved_out <= 2.6 * GB
