"""Memory of a resting program leaves when others need its place, and comes back in bulk."""

import pytest

from nvshare.lab.sim.catalog import load_known
from nvshare.lab.sim.engine import Outcome, simulate
from nvshare.lab.sim.record import Kind, Span

GB = 10**9
# Both directions of a T4's bus at once.
DUPLEX = 0.9 * 12e9


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return simulate(load_known("idle-memory"), check=True, picture=True)


def spans(outcome: Outcome, name: str, kind: Kind) -> list[Span]:
    (record,) = (record for record in outcome.records if record.name == name)
    return [span for span in record.spans or () if span.kind is kind]


def test_it_leaves_as_far_as_it_is_needed_and_without_a_change_of_turn(outcome: Outcome) -> None:
    first, *later = (span for span in spans(outcome, "notebook", Kind.OUT) if span.end < 300)
    large, *_ = (span for span in spans(outcome, "large", Kind.RUN) if span.end > 100)
    # Some of it for the large one, which then runs through; the rest when the small one comes.
    assert 20.0 < first.begin < 22.0
    assert large.begin == pytest.approx(first.end, abs=0.01)
    assert large.end > 300
    assert all(100.0 <= span.begin < 100.5 for span in later)
    (small,) = spans(outcome, "small", Kind.RUN)
    assert small.begin < 100.5
    # The scheduler takes context and reserve into account, so it leaves a little more than it must.
    left = sum(span.end - span.begin for span in (first, *later)) * 12 * GB
    assert 5.0 * GB < left <= 6.0 * GB


def test_it_comes_back_in_bulk(outcome: Outcome) -> None:
    back, *_ = spans(outcome, "notebook", Kind.IN)
    wait, *_ = spans(outcome, "notebook", Kind.WAIT)
    assert back.begin == pytest.approx(wait.end, abs=0.001)
    # A little behind the memory that leaves, which has to be mapped for the CPU.
    assert back.end - back.begin == pytest.approx(1.03 * 5.6 * GB / DUPLEX, rel=0.015)


def test_nobody_pages(outcome: Outcome) -> None:
    # A new context takes its room at once, whichever memory has to leave.
    assert outcome.sites[0].gpu.board.pushed_out < 0.1 * GB
    assert outcome.sites[0].core_view.turn_changes == 4
