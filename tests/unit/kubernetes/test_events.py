"""How many events a pod may have. The form of one is in test_follow.py."""

from nvshare.kubernetes.events import MOST_EVENTS, WINDOW_SECONDS, EventBudget


def test_so_many_in_a_minute() -> None:
    budget = EventBudget()
    assert [budget.take(5.0) for _ in range(MOST_EVENTS + 1)] == [True] * MOST_EVENTS + [False]


def test_each_comes_back_a_minute_after_it_was_taken() -> None:
    budget = EventBudget()
    for second in range(MOST_EVENTS):
        assert budget.take(float(second))
    assert not budget.take(WINDOW_SECONDS - 0.1)
    assert budget.take(WINDOW_SECONDS)
    assert not budget.take(WINDOW_SECONDS + 0.9)
    assert budget.take(WINDOW_SECONDS + 1.0)


def test_that_there_is_none_left_is_said_once_each_time() -> None:
    budget = EventBudget()
    while budget.take(0.0):
        pass
    assert [budget.is_to_be_said() for _ in range(2)] == [True, False]
    assert budget.take(WINDOW_SECONDS)
    assert budget.is_to_be_said()
