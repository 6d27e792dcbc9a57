"""Recent use halves as time passes, and grows by the clock of a device."""

import pytest

from nvshare.core.record.use import HALF_LIFE_TURNS, Use, UseClock, half_life_of, whole_of

LIFE = 100.0


def run(clock: UseClock, seconds: float, holders: int = 1, moved: float = 0.0) -> None:
    """Let time pass, a part of which memory moved, as its end is reported."""
    clock.advance(clock.at + seconds, LIFE, holders, clock.moving + moved)


def test_three_minutes_are_a_half_life_by_default() -> None:
    assert half_life_of(30.0) == HALF_LIFE_TURNS * 30.0 == 180.0


# Charging.


def test_who_holds_the_device_for_a_moment_has_used_that() -> None:
    clock = UseClock()
    run(clock, 0.1)
    assert clock.read(Use(mark=0.0), LIFE, 1.0) == pytest.approx(0.1, rel=1e-3)


def test_who_always_holds_it_has_used_the_whole() -> None:
    clock = UseClock()
    for _ in range(100):
        run(clock, LIFE / 3)
    assert clock.reading == pytest.approx(whole_of(LIFE))


def test_it_does_not_matter_how_many_events_there_are_meanwhile() -> None:
    often, once = UseClock(), UseClock()
    for _ in range(100):
        run(often, 0.5)
    run(once, 50.0)
    assert often.reading == pytest.approx(once.reading)


def test_several_that_hold_it_have_equal_parts() -> None:
    two, one = UseClock(), UseClock()
    run(two, 50.0, holders=2)
    run(one, 50.0)
    assert two.reading == pytest.approx(one.reading / 2)


def test_where_nobody_competes_nothing_is_charged() -> None:
    clock = UseClock(reading=8.0)
    run(clock, LIFE, holders=0)
    # But use decays.
    assert clock.reading == 4.0


def test_only_who_holds_the_device_is_charged() -> None:
    clock = UseClock()
    run(clock, 50.0)
    assert clock.read(Use(8.0, at=0.0), LIFE, 1.0) == pytest.approx(8.0 * 2**-0.5)
    assert clock.read(Use(8.0, at=0.0, mark=0.0), LIFE, 1.0) > 8.0


def test_what_was_charged_before_a_turn_began_is_not_charged_again() -> None:
    clock = UseClock()
    run(clock, 50.0)
    use = Use(0.0, clock.at, clock.reading)
    assert clock.read(use, LIFE, 1.0) == 0.0
    run(clock, 50.0)
    assert clock.read(use, LIFE, 1.0) == pytest.approx(clock.reading * (1 - 1 / (1 + 2**0.5)))


def test_a_second_costs_less_the_greater_the_weight_is() -> None:
    clock = UseClock()
    run(clock, 50.0)
    charged = clock.read(Use(mark=0.0), LIFE, 1.0)
    assert clock.read(Use(8.0, clock.at, mark=0.0), LIFE, 20.0) == pytest.approx(8 + charged / 20)


def test_time_in_which_memory_moved_is_not_charged() -> None:
    clock, idle = UseClock(), UseClock()
    run(clock, 50.0, moved=10.0)
    run(idle, 50.0)
    assert clock.reading == pytest.approx(0.8 * idle.reading)


def test_a_move_longer_than_the_time_since_the_last_event_is_subtracted_later() -> None:
    clock = UseClock()
    run(clock, 1.0, moved=3.0)
    assert (clock.reading, clock.unpaid) == (0.0, 2.0)
    run(clock, 2.0)
    assert (clock.reading, clock.unpaid) == (0.0, 0.0)
    run(clock, 1.0)
    assert clock.reading > 0


def test_a_move_while_nobody_competes_is_not_subtracted_later() -> None:
    clock = UseClock()
    run(clock, 1.0, holders=0, moved=3.0)
    run(clock, 1.0)
    assert clock.reading > 0


def test_a_move_that_is_reported_at_the_time_of_another_event_counts() -> None:
    clock = UseClock()
    run(clock, 1.0)
    run(clock, 0.0, moved=0.5)
    assert clock.unpaid == 0.5


# Decaying.


def test_a_use_halves_within_a_half_life() -> None:
    assert UseClock(at=LIFE).read(Use(8.0), LIFE, 1.0) == 4.0


@pytest.mark.parametrize("later", [0.0, 30.0, 1e5])
def test_uses_keep_their_order_while_time_passes(later: float) -> None:
    less, more = Use(4.0, at=1000.0), Use(9.0, at=900.0)
    clock = UseClock(at=1000.0 + later)
    assert clock.read(less, LIFE, 1.0) < clock.read(more, LIFE, 1.0)
    assert less.rank(LIFE) < more.rank(LIFE)


def test_the_same_use_has_the_same_rank_whenever_it_was_taken() -> None:
    assert Use(8.0, at=1000.0).rank(LIFE) == Use(4.0, at=1000.0 + LIFE).rank(LIFE)


def test_who_has_used_next_to_nothing_goes_by_arrival() -> None:
    assert Use(1e-9, at=1000.0).rank(LIFE) < Use(0.0, at=1001.0).rank(LIFE)
