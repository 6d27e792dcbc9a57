"""How one client's time is divided, in examples and for every history that can be generated."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvshare.telemetry.time.client_time import QUIET_NS, ClientTime, Doing, Part

SECOND = 1_000_000_000


def spent(time: ClientTime, now: float) -> dict[str, float]:
    """The parts that are not 0, in seconds."""
    parts = time.spent(round(now * SECOND))
    return {part.value: value / SECOND for part, value in parts.items() if value}


class Scene:
    """A client's time, in seconds."""

    def __init__(self) -> None:
        self.time = ClientTime(0)

    def become(self, now: float, doing: Doing) -> None:
        self.time.become(round(now * SECOND), doing)

    def report(self, now: float, busy: float, held_back: float = 0.0) -> None:
        self.time.report(*(round(value * SECOND) for value in (now, busy, held_back)))

    def spent(self, now: float) -> dict[str, float]:
        return spent(self.time, now)


@pytest.mark.parametrize(
    ("doing", "part"),
    [
        (Doing.WAITS, Part.WAITING),
        (Doing.FILLS, Part.MEMORY_IN),
        (Doing.THRASHES, Part.THRASHING),
        (Doing.LEAVES, Part.MEMORY_OUT),
        (Doing.OPEN, Part.IDLE),
        (Doing.CLOSED, Part.IDLE),
    ],
)
def test_what_is_known_counts_at_once(doing: Doing, part: Part) -> None:
    scene = Scene()
    scene.become(0, doing)
    assert scene.spent(3) == {part.value: 3.0}


def test_with_an_open_gate_reports_say_what_was_computed_and_held_back() -> None:
    scene = Scene()
    scene.become(0, Doing.OPEN)
    scene.report(10, busy=6, held_back=3)
    assert scene.spent(10) == {"computing": 6.0, "held_back": 3.0, "idle": 1.0}


def test_who_has_used_its_share_up_is_held_back_without_a_turn() -> None:
    scene = Scene()
    scene.become(0, Doing.OPEN)
    scene.become(4, Doing.CLOSED)
    scene.report(10, busy=4, held_back=5)
    assert scene.spent(10) == {"computing": 4.0, "held_back": 5.0, "idle": 1.0}


def test_nobody_computes_behind_a_closed_gate() -> None:
    scene = Scene()
    scene.become(0, Doing.OPEN)
    scene.become(1, Doing.WAITS)
    scene.report(5, busy=3)
    assert scene.spent(5) == {"computing": 1.0, "waiting": 4.0}


def test_a_report_that_comes_after_the_turn_counts_for_it() -> None:
    scene = Scene()
    scene.become(0, Doing.OPEN)
    scene.become(2, Doing.LEAVES)
    scene.become(3, Doing.WAITS)
    scene.report(3.2, busy=2)
    parts = scene.spent(3.2)
    assert parts == pytest.approx({"computing": 2.0, "memory_out": 1.0, "waiting": 0.2})


def test_between_two_reports_it_goes_on_as_it_did_and_is_put_right() -> None:
    scene = Scene()
    scene.become(0, Doing.OPEN)
    scene.report(1, busy=0.5)
    assert scene.spent(1.5)["computing"] == 0.75
    # It stopped at the last report: the quarter of a second is taken off the next part.
    scene.report(2, busy=0.5)
    assert scene.spent(2)["computing"] == 0.75
    scene.report(3, busy=1.5)
    assert scene.spent(3) == {"computing": 1.5, "idle": 1.5}


def test_who_does_not_report_any_more_is_idle() -> None:
    scene = Scene()
    scene.become(0, Doing.OPEN)
    scene.report(1, busy=1)
    assert scene.spent(1 + QUIET_NS / SECOND + 9) == {"computing": 1.0, "idle": 10.0}


def test_one_of_many_reports_less_often_and_is_not_idle_in_between() -> None:
    scene = Scene()
    scene.become(0, Doing.OPEN)
    scene.report(1, busy=1)
    scene.report(3, busy=3)
    assert scene.spent(4.9)["computing"] == 4.9
    scene.report(5, busy=5)
    assert scene.spent(5) == {"computing": 5.0}
    # Twice as long as between two reports, nothing has come.
    assert scene.spent(9.1)["computing"] == 5.0


def test_a_rest_between_two_reports_says_nothing_about_the_next_one() -> None:
    scene = Scene()
    scene.become(0, Doing.OPEN)
    scene.report(1, busy=1)
    scene.report(100, busy=2)
    assert scene.spent(102)["computing"] == 2.0


def test_what_was_computed_before_it_came_is_not_counted() -> None:
    scene = Scene()
    scene.become(0, Doing.OPEN)
    scene.report(1, busy=1000, held_back=500)
    scene.report(2, busy=1001, held_back=500)
    assert scene.spent(2) == {"computing": 1.0, "idle": 1.0}


def test_a_client_that_claims_too_much_has_not_saved_it_up() -> None:
    scene = Scene()
    scene.report(1, busy=0)
    scene.report(2, busy=1000)
    scene.become(2, Doing.OPEN)
    for second in range(3, 10):
        scene.report(second, busy=1000)
    assert scene.spent(9)["computing"] == QUIET_NS / SECOND


def test_memory_that_came_in_unnoticed_is_taken_off_the_open_gate() -> None:
    scene = Scene()
    scene.become(0, Doing.OPEN)
    scene.time.has_filled(2 * SECOND, SECOND // 2)
    scene.report(3, busy=2)
    assert scene.spent(3) == {"computing": 2.0, "memory_in": 0.5, "idle": 0.5}


steps = st.lists(
    st.tuples(
        st.integers(0, 2 * SECOND),
        st.one_of(
            st.sampled_from(Doing),
            st.tuples(st.integers(0, 3 * SECOND), st.integers(0, 3 * SECOND)),
            st.just("look"),
            st.integers(0, SECOND),
        ),
    ),
    max_size=40,
)


@given(steps)
def test_the_parts_always_add_up_and_never_shrink(history: list[tuple[int, Any]]) -> None:
    time, now, busy, held_back = ClientTime(0), 0, 0, 0
    before = dict.fromkeys(Part, 0)
    for passed, what in history:
        now += passed
        if isinstance(what, Doing):
            time.become(now, what)
        elif isinstance(what, tuple):
            busy, held_back = busy + what[0], held_back + what[1]
            time.report(now, busy, held_back)
        elif isinstance(what, int):
            time.has_filled(now, what)
        else:
            parts = time.spent(now)
            assert sum(parts.values()) == now
            assert all(parts[part] >= before[part] for part in Part)
            before = dict(parts)
    assert sum(time.spent(now).values()) == now
