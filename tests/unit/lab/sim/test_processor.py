from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvshare.lab.sim.processor import Processor

SLICE = 0.002
SWITCH = 0.0002


def finish_times(works: dict[int, float]) -> dict[int, float]:
    """Run contexts that all begin at 0 to their ends."""
    processor, now = Processor(SLICE, SWITCH), 0.0
    ends: dict[int, float] = {}
    for place, work in works.items():
        processor.start(place, work)
    while len(ends) < len(works):
        seconds, done = processor.next()
        processor.advance(seconds)
        now += seconds
        if done is not None:
            processor.stop(done)
            ends[done] = now
    assert processor.busy == pytest.approx(now)
    return ends


def expect(processor: Processor, seconds: float, place: int | None) -> None:
    """Return the next event, and when it is."""
    when, who = processor.next()
    assert when == pytest.approx(seconds, abs=1e-7)
    assert who == place


def step_by_step(works: dict[int, float]) -> dict[int, float]:
    """Do the same slice by slice."""
    left, now, ends = dict(sorted(works.items())), 0.0, {}
    ring, last = sorted(works), -1
    while left:
        for place in ring:
            if place not in left:
                continue
            others = len(left) > 1
            now += 0.0 if last in (-1, place) else SWITCH
            last = place
            spent = min(left[place], SLICE if others else inf)
            now += spent
            left[place] -= spent
            if left[place] <= 1e-12:
                del left[place]
                ends[place] = now
    return ends


def test_alone_nothing_is_lost() -> None:
    assert finish_times({7: 1.5}) == {7: pytest.approx(1.5)}


def test_two_share_in_slices_and_lose_a_switch_for_each() -> None:
    # a 2, switch, b 2, switch, a 1: done at 5.4 ms; switch, b 2, and on without a change.
    assert finish_times({1: 0.003, 2: 0.005}) == {
        1: pytest.approx(0.0054),
        2: pytest.approx(0.0086),
    }


def test_a_newcomer_waits_for_the_end_of_the_slice() -> None:
    processor = Processor(SLICE, SWITCH)
    processor.start(1, 1.0)
    processor.advance(0.0111)
    processor.start(2, 0.001)
    # The slice ends at 12 ms, then a switch, then a millisecond of work.
    expect(processor, 0.0009 + SWITCH + 0.001, 2)


def test_who_comes_back_first_does_not_cost_a_switch() -> None:
    processor = Processor(SLICE, SWITCH)
    for place, cost in ((1, 0.0), (1, 0.0), (2, SWITCH), (1, SWITCH)):
        processor.start(place, 0.001)
        expect(processor, 0.001 + cost, place)
        processor.advance(0.001 + cost)
        processor.stop(place)


def test_a_switch_to_one_who_has_gone_still_takes_its_time() -> None:
    processor = Processor(SLICE, SWITCH)
    processor.start(1, 0.001)
    processor.start(2, 1.0)
    processor.start(3, 0.001)
    processor.advance(0.001)
    processor.stop(1)
    processor.next()
    processor.stop(2)
    expect(processor, SWITCH, None)
    processor.advance(SWITCH)
    expect(processor, SWITCH + 0.001, 3)


def test_work_can_be_cut_short_but_not_lengthened() -> None:
    processor = Processor(SLICE, SWITCH)
    processor.start(1, 1.0)
    processor.shorten(1, 0.25)
    processor.shorten(1, 0.5)
    assert processor.left(1) == 0.25


@given(st.dictionaries(st.integers(0, 9), st.floats(1e-5, 0.1), min_size=1, max_size=6))
def test_jumping_gives_what_stepping_gives(works: dict[int, float]) -> None:
    expected = step_by_step(works)
    for place, end in finish_times(works).items():
        assert end == pytest.approx(expected[place], abs=1e-7)


@given(
    st.dictionaries(st.integers(0, 9), st.floats(0.01, 1), min_size=2, max_size=5),
    st.lists(st.floats(1e-5, 0.05), max_size=20),
)
def test_it_does_not_matter_how_often_somebody_looks(
    works: dict[int, float], looks: list[float]
) -> None:
    whole, looked = Processor(SLICE, SWITCH), Processor(SLICE, SWITCH)
    for place, seconds in works.items():
        whole.start(place, seconds)
        looked.start(place, seconds)
    until, first = whole.next()
    for look in looks:
        if look < until:
            looked.advance(look)
            until -= look
    expect(looked, until, first)
