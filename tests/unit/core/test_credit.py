from math import inf

import pytest

from nvshare.core.client import Client
from nvshare.core.credit import FIRST, prompt_limit, protected_seconds
from nvshare.core.settings import DEFAULTS

from .stage import Stage


def credit(stage: Stage, client: int) -> float:
    return stage.device.roster.clients[client].credit


@pytest.fixture
def stage() -> Stage:
    """Have 1 run, and 2 rest after it has run."""
    stage = Stage()
    stage.join(2, 12)
    stage.join(1, 12, swapped=12)
    stage.want(1)
    stage.release(2)
    return stage


def test_who_rests_earns_its_part_of_the_time(stage: Stage) -> None:
    stage.now += 20
    stage.want(2)
    assert credit(stage, 2) == 10.0


def test_nobody_earns_by_waiting(stage: Stage) -> None:
    stage.want(2)
    stage.now += 20
    stage.want(2)
    assert credit(stage, 2) == 0.0


def test_who_holds_a_turn_that_others_wait_for_spends(stage: Stage) -> None:
    stage.now += 20
    stage.want(2)
    stage.release(1, wants=True)
    stage.now += 4
    stage.release(2)
    assert credit(stage, 2) == 6.0


def test_a_turn_that_nobody_waits_for_is_free(stage: Stage) -> None:
    stage.now += 100
    stage.release(1)
    assert credit(stage, 1) == 0.0


def test_it_neither_grows_nor_falls_beyond_a_turn(stage: Stage) -> None:
    stage.now += 10_000
    stage.want(2)
    assert credit(stage, 2) == DEFAULTS.turn_min
    stage.release(1, wants=True)
    stage.now += 10_000
    stage.release(2)
    assert credit(stage, 2) == -DEFAULTS.turn_min


@pytest.mark.parametrize(
    ("client", "limit"),
    [
        (Client(3, claims=True, is_new=True), FIRST * DEFAULTS.turn_min),
        (Client(3, claims=True, credit=7.0), 7.0),
        (Client(3, credit=7.0), None),
    ],
)
def test_who_has_interrupted_others_has_its_turn_for_as_long_as_its_credit_lasts(
    stage: Stage, client: Client, limit: float | None
) -> None:
    roster = stage.device.roster
    assert prompt_limit(client, roster, DEFAULTS) is None
    roster.set_interrupted(roster.clients[1], 5.0)
    assert prompt_limit(client, roster, DEFAULTS) == limit


def test_a_first_turn_is_not_interrupted(stage: Stage) -> None:
    state, roster = stage.device.state, stage.device.roster
    assert protected_seconds(roster.clients[1], state, roster, stage.now) == inf


def test_with_the_policy_batch_a_first_turn_is_not_interrupted_for_a_usual_turn(
    stage: Stage,
) -> None:
    stage.change(policy="batch")
    state, roster = stage.device.state, stage.device.roster
    stage.now += 10
    left = DEFAULTS.turn_min - 10
    assert protected_seconds(roster.clients[1], state, roster, stage.now) == left
