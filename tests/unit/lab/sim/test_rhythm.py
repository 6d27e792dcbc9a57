"""A notebook with a rhythm finds its memory on the GPU, if another program has made room."""

import pytest

from nvshare.lab.sim.engine import simulate
from nvshare.lab.sim.record import Kind, Record, Span
from nvshare.lab.sim.scenario import Scenario

GB = 10**9


def notebook(name: str, arrival: float) -> dict[str, object]:
    """8 GB, a burst of half a second every 20 seconds."""
    return {
        "name": name,
        "arrival": arrival,
        "phase": [
            {"memory": 8 * GB, "copy_in": 8 * GB},
            {"idle": 20.0, "iterations": 12, "kernel_seconds": 0.5},
        ],
    }


@pytest.fixture(scope="module")
def records() -> dict[str, Record]:
    """Two notebooks beside a trainer of 12 GB that ends after 90 s: they do not fit without it."""
    trainer = {
        "name": "trainer",
        "phase": [
            {"memory": 12 * GB, "copy_in": 12 * GB},
            {"iterations": 2000, "kernel_seconds": 0.04},
        ],
    }
    programs = [trainer, notebook("first", 3.0), notebook("second", 13.0)]
    scenario = {"name": "rhythm", "gpus": "t4", "until": 200.0, "program": programs}
    outcome = simulate(Scenario.model_validate(scenario), check=True, picture=True)
    return {record.name: record for record in outcome.records}


def moves_in(record: Record, begin: float, end: float) -> list[Span]:
    spans = record.spans or ()
    return [one for one in spans if one.kind is Kind.IN and begin <= one.begin < end]


def test_memory_comes_in_when_the_trainer_ends_and_the_next_burst_begins_at_once(
    records: dict[str, Record],
) -> None:
    ended = records["trainer"].ended
    assert ended is not None
    # Both rest. The second is expected first, and gets its 8 GB; the first gets the rest of the
    # room.
    (ahead,) = moves_in(records["second"], ended, ended + 1)
    (beside,) = moves_in(records["first"], ended, ended + 1)
    assert ahead.begin == pytest.approx(ended, abs=0.01)
    assert ahead.end - ahead.begin == pytest.approx(8 / 12, rel=0.05)
    assert beside.begin == pytest.approx(ahead.end, abs=0.01)
    (burst, *_) = (s for s in records["second"].spans or () if s.end > ahead.end + 0.5)
    assert burst.kind is Kind.RUN
