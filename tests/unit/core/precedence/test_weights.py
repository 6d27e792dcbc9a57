"""What a second of the device costs whom."""

import pytest

from nvshare.core.events import LimitsChanged
from nvshare.core.precedence.weights import weight_of, weights_of_all
from nvshare.core.record.client import Client
from nvshare.core.settings import Limits, Priority

from ..stage import Stage

HIGH = Limits(priority=Priority.HIGH)
NORMAL = Limits(priority=Priority.NORMAL)
LOW = Limits(priority=Priority.LOW)


def weights(*priorities: Limits) -> list[float]:
    """Return the weights of clients of these priorities."""
    stage = Stage()
    for client, limits in enumerate(priorities):
        stage.join(client, 12, limits=limits)
    return weights_on(stage)


def weights_on(stage: Stage) -> list[float]:
    return [weight_of(stage.device.roster, client) for client in clients_of(stage)]


def clients_of(stage: Stage) -> list[Client]:
    return list(stage.device.roster.clients.values())


@pytest.mark.parametrize(("higher", "lower"), [(HIGH, NORMAL), (NORMAL, LOW)])
def test_a_higher_priority_pays_a_twentieth(higher: Limits, lower: Limits) -> None:
    high, low = weights(higher, lower)
    assert high / low == pytest.approx(20.0)


def test_no_weight_is_less_than_a_twentieth_of_the_greatest() -> None:
    high, normal, low = weights(HIGH, NORMAL, LOW)
    assert high / low == high / normal == pytest.approx(20.0)
    high, low = weights(HIGH, LOW)
    assert high / low == pytest.approx(20.0)


@pytest.mark.parametrize("limits", [HIGH, NORMAL, LOW])
def test_where_all_have_the_same_priority_a_second_is_a_second(limits: Limits) -> None:
    assert weights(limits, limits) == [1.0, 1.0]


def test_a_priority_that_nobody_has_any_more_does_not_count() -> None:
    stage = Stage()
    stage.join(1, 12, limits=HIGH)
    stage.join(2, 12)
    stage.core.handle(LimitsChanged(now=stage.now, client=1, limits=NORMAL))
    assert weights_on(stage) == [1.0, 1.0]


def of_users(*owners: str) -> Stage:
    """Have one client for each of these owners wait or run."""
    stage = Stage()
    for client, owner in enumerate(owners, 1):
        stage.join(client, 12, owner=owner)
        stage.want(client)
    return stage


def test_programs_of_a_user_share_the_weight_of_one_while_another_user_competes() -> None:
    stage = of_users("ann/1", "ann/2", "bob/1")
    assert weights_on(stage) == [0.5, 0.5, 1.0]
    stage.leave(3)
    assert weights_on(stage) == [1.0, 1.0]


def test_a_user_that_only_rests_does_not_compete() -> None:
    stage = of_users("ann/1", "ann/2")
    stage.join(3, 12, owner="bob/1")
    stage.join(4, 12, owner="ann/3")
    assert weights_on(stage)[:2] == [1.0, 1.0]
    stage.want(3)
    assert weights_on(stage)[:2] == [0.5, 0.5]


@pytest.mark.parametrize("owners", [("ann/1", "ann/2"), ("ann/1", "ann/2", "bob/1")])
def test_the_sum_is_that_of_all_who_compete(owners: tuple[str, ...]) -> None:
    stage = of_users(*owners)
    assert weights_of_all(stage.device.roster) == pytest.approx(sum(weights_on(stage)))


def test_the_sum_counts_priorities() -> None:
    stage = Stage()
    for client, limits in enumerate((HIGH, NORMAL, LOW, LOW)):
        stage.join(client, 12, limits=limits)
    assert weights_of_all(stage.device.roster) == pytest.approx(sum(weights_on(stage)))
