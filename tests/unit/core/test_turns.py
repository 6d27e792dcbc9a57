import pytest

from nvshare.core.settings import Settings
from nvshare.core.turns import Pace

GB = 10**9


@pytest.fixture
def pace() -> Pace:
    return Pace(bandwidth=10 * GB)


@pytest.mark.parametrize(("moved", "seconds"), [(0, 30), (100 * GB, 50), (10_000 * GB, 300)])
def test_an_automatic_turn_is_a_multiple_of_the_swap_within_bounds(
    pace: Pace, moved: int, seconds: float
) -> None:
    assert pace.turn_length(Settings(), moved) == seconds


def test_a_fixed_turn_does_not_depend_on_memory(pace: Pace) -> None:
    assert pace.turn_length(Settings(turn_seconds=7), 10_000 * GB) == 7


def test_a_measured_move_shifts_the_average(pace: Pace) -> None:
    pace.measure(6 * GB, 1.0)
    assert pace.bandwidth == 9 * GB
    for _ in range(100):
        pace.measure(6 * GB, 1.0)
    assert pace.bandwidth == pytest.approx(6 * GB)


@pytest.mark.parametrize(("moved", "seconds"), [(1000, 1.0), (GB, 0.0), (0, 1.0)])
def test_what_measures_no_bandwidth_is_left_out(pace: Pace, moved: int, seconds: float) -> None:
    pace.measure(moved, seconds)
    assert pace.bandwidth == 10 * GB


def test_one_unproductive_turn_changes_nothing(pace: Pace) -> None:
    assert not pace.judge(seconds=30, moving=16)
    assert pace.turn_length(Settings(), 0) == 30


def test_repeated_unproductive_turns_double_the_length_and_are_reported_once(pace: Pace) -> None:
    assert [pace.judge(30, 16) for _ in range(4)] == [False, True, False, False]
    assert pace.turn_length(Settings(), 0) == 240


def test_the_length_does_not_grow_past_the_longest_turn(pace: Pace) -> None:
    for _ in range(50):
        pace.judge(30, 16)
    assert pace.turn_length(Settings(), 0) == 300
    assert pace.turn_length(Settings(turn_seconds=5), 0) == 300


def test_a_new_streak_is_reported_again(pace: Pace) -> None:
    first = [pace.judge(30, 16) for _ in range(2)]
    pace.judge(100, 20)
    assert first == [pace.judge(30, 16) for _ in range(2)] == [False, True]


def test_the_length_stays_when_half_of_it_would_be_too_short_again(pace: Pace) -> None:
    for _ in range(2):
        pace.judge(30, 16)
    pace.judge(60, 16)
    assert pace.stretch == 2


def test_the_length_returns_when_turns_pay_by_a_margin(pace: Pace) -> None:
    for _ in range(3):
        pace.judge(30, 16)
    for _ in range(5):
        pace.judge(60, 1)
    assert pace.stretch == 1
