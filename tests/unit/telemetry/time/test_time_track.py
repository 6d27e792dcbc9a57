"""Where time lies on the clock: it adds up to the counted time, and leaves no gap."""

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from nvshare.telemetry.time.client_time import ClientTime, Doing, Part
from nvshare.telemetry.time.time_track import Track

Spans = list[tuple[Part, int, int]]


def followed(time: ClientTime, now: int) -> Spans:
    spans: Spans = []
    time.follow(now, Track(lambda part, begin, end: spans.append((part, begin, end))))
    return spans


def test_computing_comes_first_then_held_back_then_idle() -> None:
    time = ClientTime(0)
    time.become(0, Doing.OPEN)
    spans = followed(time, 0)
    time.report(100, 60, 30)
    assert spans == [(Part.COMPUTING, 0, 60), (Part.HELD_BACK, 60, 90), (Part.IDLE, 90, 100)]


def test_every_short_turn_has_its_part_of_what_is_reported_after_them() -> None:
    time = ClientTime(0)
    spans = followed(time, 0)
    for turn in range(4):
        time.become(100 * turn, Doing.OPEN)
        time.become(100 * turn + 50, Doing.WAITS)
    time.report(400, 100, 0)
    computing = [(begin, end) for part, begin, end in spans if part is Part.COMPUTING]
    assert computing == [(0, 25), (100, 125), (200, 225), (300, 325)]


def test_memory_that_came_in_unnoticed_was_last() -> None:
    time = ClientTime(0)
    time.become(0, Doing.OPEN)
    spans = followed(time, 0)
    time.has_filled(100, 30)
    time.report(120, 120, 0)
    assert spans == [
        (Part.MEMORY_IN, 70, 100),
        (Part.COMPUTING, 0, 70),
        (Part.COMPUTING, 100, 120),
    ]


def test_what_was_before_is_nobodys_business() -> None:
    time = ClientTime(0)
    time.become(0, Doing.OPEN)
    spans = followed(time, 50)
    time.report(100, 100, 0)
    assert min(begin for _, begin, _ in spans) == 50


steps = st.one_of(
    st.tuples(st.just("become"), st.sampled_from(Doing)),
    st.tuples(st.just("report"), st.tuples(st.integers(0, 900), st.integers(0, 900))),
    st.tuples(st.just("filled"), st.integers(0, 500)),
    st.tuples(st.just("look"), st.none()),
)


@given(st.lists(st.tuples(st.integers(0, 1000), steps)), st.integers(0, 5))
def test_it_adds_up_and_has_no_gaps(told: list[tuple[int, tuple[str, object]]], late: int) -> None:
    time, now, busy, held = ClientTime(0), 0, 0, 0
    spans: Spans = []
    before: dict[Part, int] = dict.fromkeys(Part, 0)
    began = 0
    for number, (passed, (what, value)) in enumerate(told):
        now += passed
        if number == late:
            spans, began = followed(time, now), now
            before = dict(time.spent(now))
        match what, value:
            case "become", Doing():
                time.become(now, value)
            case "report", (int(more), int(back)):
                busy, held = busy + more, held + back
                time.report(now, busy, held)
            case "filled", int(length):
                time.has_filled(now, length)
            case _:
                time.spent(now)
    after = time.spent(now)
    if len(told) <= late:
        return
    sums: Counter[Part] = Counter()
    for part, begin, end in spans:
        sums[part] += end - begin
    assert {part: after[part] - before[part] for part in Part} == {p: sums[p] for p in Part}
    ordered = sorted((begin, end) for _, begin, end in spans)
    assert all(end == begin for (_, end), (begin, _) in pairwise(ordered))
    if ordered:
        assert (ordered[0][0], ordered[-1][1]) == (began, now)
