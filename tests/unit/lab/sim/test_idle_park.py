"""With idle_park, memory of a resting program leaves though no program needs its place."""

import pytest

from nvshare.lab.sim.catalog import load_known
from nvshare.lab.sim.engine import Outcome, simulate
from nvshare.lab.sim.record import Kind, Span

GB = 10**9


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    scenario = load_known("idle-memory")
    notebook = scenario.program[0]
    changes = {"program": (notebook,), "settings": scenario.settings.changed({"idle_park": 60})}
    return simulate(scenario.model_copy(update=changes), check=True, picture=True)


def spans(outcome: Outcome, kind: Kind) -> list[Span]:
    (record,) = outcome.records
    return [span for span in record.spans or () if span.kind is kind]


def test_it_leaves_a_minute_after_its_last_work(outcome: Outcome) -> None:
    first, *_ = spans(outcome, Kind.RUN)
    out, *_ = spans(outcome, Kind.OUT)
    # Half a second of copying and three of work, and then its turn goes on for a minute. The end of
    # the work is reported up to a second later.
    assert 60.0 <= out.begin - (first.begin + 3.5) <= 61.5
    assert (out.end - out.begin) * 12 * GB == pytest.approx(6 * GB, rel=0.05)


def test_it_comes_back_in_bulk_when_it_works_again(outcome: Outcome) -> None:
    back, *others = spans(outcome, Kind.IN)
    assert others == []
    assert (back.end - back.begin) * 12 * GB == pytest.approx(6 * GB, rel=0.05)
    assert outcome.sites[0].core_view.turn_changes >= 1
