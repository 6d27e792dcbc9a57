import sys

import pytest

from nvshare.daemon.clients.use_history import UseHistory


def test_who_has_told_nothing_has_used_nothing() -> None:
    assert UseHistory().percents(100.0)[1] == 0.0


def test_use_is_what_the_counter_grew_by() -> None:
    history = UseHistory()
    for step in range(401):
        history.note(100.0 + step / 4, 7.0 + step / 4 * 0.3)
    assert list(history.percents(200.0).values()) == pytest.approx([30.0] * 3)


def test_between_two_reports_it_goes_straight() -> None:
    history = UseHistory()
    history.note(100.0, 0.0)
    history.note(104.0, 2.0)
    assert history.percents(104.0)[1] == pytest.approx(50.0)


def test_who_tells_nothing_more_uses_nothing_more() -> None:
    history = UseHistory()
    history.note(100.0, 0.0)
    history.note(101.0, 1.0)
    assert history.percents(101.0)[1] == pytest.approx(100.0)
    assert history.percents(110.0)[1] == 0.0
    assert history.percents(110.0)[10] == pytest.approx(10.0)


def test_who_tells_seldom_is_known_until_it_has_told_last() -> None:
    history = UseHistory()
    for second in (100.0, 102.0, 104.0):
        history.note(second, second)
    assert history.percents(105.9)[1] == pytest.approx(100.0)
    assert history.percents(106.1)[1] == 0.0


def test_after_a_long_rest_it_is_not_as_if_it_told_seldom() -> None:
    history = UseHistory()
    history.note(100.0, 0.0)
    history.note(4000.0, 1.0)
    assert history.percents(4012.0)[10] == 0.0


def test_a_counter_of_which_only_the_end_is_known_says_nothing() -> None:
    history = UseHistory()
    history.note(100.0, 5000.0)
    assert history.percents(100.0)[60] == 0.0


def test_it_does_not_grow_for_ever() -> None:
    history = UseHistory()
    for step in range(10_000):
        history.note(step / 4, step / 4)
    assert len(history._times) < 300
    assert history.percents(9999 / 4)[60] == pytest.approx(100.0)


def test_what_is_told_all_the_time_takes_no_more_room() -> None:
    history = UseHistory()
    for count in range(100_000):
        history.note(count * 1e-4, count * 1e-4)
    assert len(history._times) <= 10 / 0.1 + 3
    assert history.percents(10.0)[1] == pytest.approx(100, abs=1)


def test_a_minute_is_kept_without_an_object_for_every_report() -> None:
    history = UseHistory()
    for step in range(401):
        history.note(100.0 + step / 4, step / 4)
    # Two numbers of eight bytes for each report of a minute, and room to grow.
    sizes = [sys.getsizeof(one) for one in vars(history).values()]
    assert sum(sizes) < 2 * 8 * 300 * 1.25
