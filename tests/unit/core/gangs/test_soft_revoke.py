"""All clients of a gang are asked to give way when idle, or none."""

from nvshare.core.effects import Revoke, Urgency

from ..stage import asked
from .stage import Stage, keeps


def test_all_of_a_gang_are_asked_if_one_is_in_the_way() -> None:
    stage = Stage()
    stage.gang(10, 11)
    stage.join(20, 12)
    effects = stage.want(20)
    assert sorted(asked(effects)) == [10, 11]
    orders = [effect for effect in effects if isinstance(effect, Revoke)]
    # As long as moving the memory of one of them takes. None moves any by itself.
    assert len({order.idle_seconds for order in orders}) == 1
    assert [order.evict_bytes for order in orders] == [0, 0]
    assert all(order.urgency is Urgency.WHEN_IDLE for order in orders)


def test_all_of_a_gang_are_told_that_they_need_not() -> None:
    stage = Stage()
    stage.gang(10, 11)
    stage.join(20, 12)
    stage.want(20)
    assert sorted(keeps(stage.leave(20))) == [10, 11]


def test_a_gang_that_is_in_nobodys_way_is_asked_for_nothing() -> None:
    stage = Stage(devices=3)
    stage.gang(10, 11)
    for client in (22, 32):
        stage.join(client, 12)
    stage.want(22)
    assert asked(stage.want(32)) == [22]
