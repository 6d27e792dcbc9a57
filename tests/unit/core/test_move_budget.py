from math import inf

import pytest

from nvshare.core.move_budget import TURNS, MoveBudget

RATE = 0.1
TURN = 30.0
MOST = RATE * TURNS * TURN


@pytest.fixture
def budget() -> MoveBudget:
    new = MoveBudget()
    new.count(1000.0, 0.0, RATE, TURN)
    return new


def test_it_begins_with_all_that_can_be_saved(budget: MoveBudget) -> None:
    assert budget.saved == MOST


def test_what_moves_is_taken_out_and_comes_back_with_time(budget: MoveBudget) -> None:
    budget.count(1000.0, 10.0, RATE, TURN)
    assert budget.saved == pytest.approx(MOST - 10.0)
    budget.count(1050.0, 10.0, RATE, TURN)
    assert budget.saved == pytest.approx(MOST - 5.0)
    budget.count(2000.0, 10.0, RATE, TURN)
    assert budget.saved == pytest.approx(MOST)


def test_nobody_pays_for_more_than_there_was(budget: MoveBudget) -> None:
    budget.count(1000.0, 500.0, RATE, TURN)
    assert budget.saved == 0.0


def test_who_cannot_pay_waits_until_it_can(budget: MoveBudget) -> None:
    assert budget.wait(2.0, RATE, TURN) == 0.0
    budget.count(1000.0, MOST - 1.0, RATE, TURN)
    assert budget.wait(2.0, RATE, TURN) == pytest.approx(10.0)


def test_what_costs_more_than_can_be_saved_waits_for_all_of_it(budget: MoveBudget) -> None:
    assert budget.wait(10 * MOST, RATE, TURN) == 0.0
    budget.spend(1.0)
    assert budget.wait(10 * MOST, RATE, TURN) == pytest.approx(10.0)


def test_a_part_can_be_left_to_others(budget: MoveBudget) -> None:
    budget.spend(MOST / 2)
    assert budget.wait(1.0, RATE, TURN) == 0.0
    assert budget.wait(1.0, RATE, TURN, left=0.5) == pytest.approx(10.0)


def test_without_a_budget_only_what_costs_nothing_is_prompt(budget: MoveBudget) -> None:
    assert budget.wait(0.1, 0.0, TURN) == inf
    assert budget.wait(0.0, 0.0, TURN) == 0.0


def test_what_is_owed_has_to_be_saved_first(budget: MoveBudget) -> None:
    budget.count(1000.0, MOST, RATE, TURN)
    budget.owe(1.0, RATE, TURN)
    assert budget.wait(2.0, RATE, TURN) == pytest.approx(30.0)
    # Moves in turns that end in time are not owed on top.
    budget.count(1005.0, MOST + 5.0, RATE, TURN)
    assert budget.saved == pytest.approx(-0.5)


def test_moves_that_another_budget_pays_for_are_not_counted(budget: MoveBudget) -> None:
    budget.leave_to_other(2.0)
    budget.count(1000.0, 1.5, RATE, TURN)
    assert budget.saved == MOST
    budget.count(1000.0, 3.0, RATE, TURN)
    assert budget.saved == pytest.approx(MOST - 1.0)


def test_moves_that_another_budget_pays_for_pay_no_debt(budget: MoveBudget) -> None:
    budget.owe(2 * MOST, RATE, TURN)
    budget.leave_to_other(2.0)
    budget.count(1000.0, 2.0, RATE, TURN)
    assert budget.saved == -MOST


def test_moves_that_were_paid_for_and_did_not_happen_add_up_to_nothing(budget: MoveBudget) -> None:
    for _ in range(5):
        budget.leave_to_other(2.0)
    budget.count(1000.0, 10.0, RATE, TURN)
    assert budget.saved == pytest.approx(MOST - 8.0)


def test_nobody_owes_more_than_can_be_saved(budget: MoveBudget) -> None:
    budget.owe(1000.0, RATE, TURN)
    assert budget.saved == -MOST
