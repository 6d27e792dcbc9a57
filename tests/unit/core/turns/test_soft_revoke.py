from nvshare.core.effects import CancelHandover, Effect, Handover, Keep, Revoke, Urgency
from nvshare.core.settings import Mode

from ..stage import Stage, asked


def evictions(effects: list[Effect]) -> dict[int, int]:
    orders = (effect for effect in effects if isinstance(effect, Revoke))
    return {order.client: order.evict_bytes for order in orders if order.evict_bytes}


def test_asking_to_give_way_says_how_long_to_be_idle() -> None:
    stage = Stage(idle_grace=0.25)
    stage.join(1, 16)
    assert Revoke(1, 1, Urgency.WHEN_IDLE, 16, 0.25) in stage.busy(2, 16)


def test_everybody_who_runs_is_asked_because_anybody_may_be_idle() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(2, 8)
    assert asked(stage.busy(3, 8)) == [1, 2]


def test_nobody_is_asked_twice() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.busy(2, 16)
    assert asked(stage.busy(3, 16)) == []


def test_who_weighs_nothing_is_not_asked() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(2)
    assert asked(stage.busy(3, 16)) == [1]


def test_a_holder_moves_memory_when_idle_only_if_that_lets_the_head_in() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(2, 8)
    assert evictions(stage.busy(3, 16)) == {}
    stage = Stage()
    stage.join(1, 8)
    assert evictions(stage.busy(2, 16)) == {1: 8}


def test_when_the_rule_changes_they_are_asked_anew() -> None:
    stage = Stage(mode=Mode.SERIAL)
    stage.join(1, 12)
    stage.busy(2, 14)
    effects = stage.change(mode=Mode.AUTO)
    # The bytes to move were not asked for before; and Keep takes the hand-over back as well.
    assert effects[0] == Keep(1, 1)
    assert Revoke(1, 1, Urgency.WHEN_IDLE, 10, 0.05) in effects
    assert [e for e in effects if isinstance(e, Handover | CancelHandover)] == [
        Handover(1, 1, 2, 2, missing=10)
    ]


def test_where_one_suffices_they_are_not_to_go_all_at_once() -> None:
    stage = Stage(idle_grace=0.2, initial_bandwidth=1e9)
    stage.join(1, 6)
    stage.join(2, 6)
    stage.now += 10
    stage.used(1, 0.1)
    stage.now += 10
    rests = {one.client: one.idle_seconds for one in stage.busy(3, 6) if isinstance(one, Revoke)}
    # The client not heard of for longest goes first.
    assert rests == {2: 0.2 / 5, 1: 0.2 / 5 + 0.1}


def test_where_all_have_to_go_they_are_asked_alike() -> None:
    stage = Stage(idle_grace=0.2, initial_bandwidth=1e9)
    stage.join(1, 8)
    stage.join(2, 8)
    effects = stage.busy(3, 16)
    assert {one.idle_seconds for one in effects if isinstance(one, Revoke)} == {0.2}


def test_it_is_taken_back_in_an_order_that_a_snapshot_keeps() -> None:
    stage = Stage()
    stage.join(1)
    stage.join(2, 8)
    # 1 has no weight yet, and is asked later.
    assert asked(stage.busy(3, 16)) == [2]
    assert asked(stage.memory(1, 4)) == [1]
    kept = [effect.client for effect in stage.leave(3) if isinstance(effect, Keep)]
    assert kept == [1, 2]
