import pytest

from nvshare.core.record.pace import Pace
from nvshare.core.settings import Settings

GB = 10**9


@pytest.fixture
def pace() -> Pace:
    return Pace(bandwidth=10 * GB)


@pytest.mark.parametrize(("swap", "seconds"), [(0, 30), (10, 50), (1000, 300)])
def test_an_automatic_turn_is_a_multiple_of_the_swap_within_bounds(
    pace: Pace, swap: float, seconds: float
) -> None:
    assert pace.turn_length(Settings(), swap) == seconds


def test_a_fixed_turn_does_not_depend_on_memory(pace: Pace) -> None:
    assert pace.turn_length(Settings(turn_seconds=7), 1000) == 7


def test_what_leaves_and_what_comes_go_on_at_the_same_time(pace: Pace) -> None:
    assert pace.swap_seconds(20 * GB, 30 * GB) == 3
    assert pace.swap_seconds(-5, 0) == 0


# Measuring.


def test_a_measured_move_shifts_the_average(pace: Pace) -> None:
    pace.measure(1.0, 1.0, out_bytes=6 * GB)
    assert pace.bandwidth == 9 * GB
    for moment in range(2, 100):
        pace.measure(moment, 1.0, in_bytes=6 * GB)
    assert pace.bandwidth == pytest.approx(6 * GB)


def test_the_first_measurement_counts_as_it_is() -> None:
    pace = Pace(Settings().initial_bandwidth)
    # Until then nothing is delayed for its cost.
    assert pace.swap_seconds(100 * GB, 0) < 1e-3
    pace.measure(1.0, 1.0, out_bytes=6 * GB)
    assert pace.bandwidth == 6 * GB
    pace.measure(3.0, 1.0, out_bytes=10 * GB)
    assert pace.bandwidth == 7 * GB


@pytest.mark.parametrize(("seconds", "factor"), [(50.0, 0.25), (0.001, 4.0)])
def test_a_measurement_that_is_far_off_counts_as_one_that_is_a_bit_less_so(
    pace: Pace, seconds: float, factor: float
) -> None:
    """A client may lie."""
    pace.measure(100.0, seconds, out_bytes=GB)
    assert pace.bandwidth == pytest.approx((1 + (factor - 1) / 4) * 10 * GB)


@pytest.mark.parametrize(("moved", "seconds"), [(1000, 1.0), (GB, 0.0), (0, 1.0)])
def test_what_measures_no_bandwidth_is_left_out(pace: Pace, moved: int, seconds: float) -> None:
    pace.measure(1.0, seconds, out_bytes=moved)
    assert pace.bandwidth == 10 * GB


def test_moves_that_overlap_are_one(pace: Pace) -> None:
    # One leaves with 6 GB, and the next one comes with 5, and has to wait for the room.
    pace.measure(11.0, 1.0, out_bytes=6 * GB)
    pace.measure(11.1, 1.0, in_bytes=5 * GB)
    assert pace.bandwidth == pytest.approx((10 + (6 / 1.1 - 10) / 4) * GB)
    assert pace.moving == pytest.approx(1.1)


def test_it_does_not_matter_which_of_them_is_heard_of_first(pace: Pace) -> None:
    pace.measure(11.1, 1.0, in_bytes=5 * GB)
    pace.measure(11.1, 1.1, out_bytes=6 * GB)
    assert pace.bandwidth == pytest.approx((10 + (6 / 1.1 - 10) / 4) * GB)


def test_two_that_leave_at_the_same_time_share_the_way(pace: Pace) -> None:
    for _ in range(2):
        pace.measure(11.0, 1.0, out_bytes=5 * GB)
    assert pace.bandwidth == pytest.approx(10 * GB)


def test_a_move_of_which_the_end_was_told_first_counts_all_the_same(pace: Pace) -> None:
    """A fill that is broken off is reported after the last part of the move out before it."""
    pace.measure(11.0, 1.0, out_bytes=5 * GB, more=True)
    pace.measure(13.0, 0.1, out_bytes=1 * GB, more=True)
    pace.measure(13.0, 2.0, in_bytes=5 * GB)
    assert pace.moving == pytest.approx(3.0)


def test_one_that_comes_while_another_leaves_part_by_part_counts_once(pace: Pace) -> None:
    """Between two parts there is always a moment. Before, the whole was counted twice then."""
    for part in range(1, 101):
        pace.measure(10 + 0.01 * part, 0.0099, out_bytes=GB // 10, more=part < 100)
    pace.measure(11.05, 1.0, in_bytes=10 * GB)
    assert pace.moving == pytest.approx(1.05, abs=0.011)
    assert len(pace.spans) == 1


def test_long_ago_is_forgotten(pace: Pace) -> None:
    for moment in range(1000):
        pace.measure(moment, 0.5, out_bytes=GB)
    assert pace.moving == 500.0
    assert len(pace.spans) <= 16


def test_time_in_which_nobody_moved_anything_does_not_count(pace: Pace) -> None:
    pace.measure(11.0, 1.0, out_bytes=5 * GB, more=True)
    pace.measure(13.0, 0.5, out_bytes=5 * GB)
    assert pace.moving == pytest.approx(1.5)


def test_a_move_after_another_is_another(pace: Pace) -> None:
    pace.measure(11.0, 1.0, out_bytes=10 * GB)
    pace.measure(12.0, 1.0, in_bytes=6 * GB)
    assert pace.bandwidth == 9 * GB
    assert pace.moving == 2.0


# Judging.


def test_turns_are_longer_where_everybody_computes_all_the_time(pace: Pace) -> None:
    assert pace.turn_length(Settings(), 1.0) == 30
    assert pace.turn_length(Settings(), 1.0, is_steady=True) == 60
