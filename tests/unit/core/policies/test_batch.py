from nvshare.core.client import Client
from nvshare.core.events import TimerKind
from nvshare.core.policies import find_policy

from ..stage import Stage, timers, told


def test_it_goes_by_arrival() -> None:
    batch = find_policy("batch")
    assert batch.rank(Client(1, served_at=5, since=9)) < batch.rank(Client(2, served_at=6, since=7))


def test_who_has_a_turn_keeps_it() -> None:
    stage = Stage(policy="batch", move_budget=0.0)
    stage.join(1, 12)
    effects = stage.busy(2, 12)
    assert timers(effects) == {TimerKind.TURN: stage.now + stage.settings.batch_turn}


def test_but_not_for_ever() -> None:
    stage = Stage(policy="batch", move_budget=0.0, batch_turn=100.0)
    stage.join(1, 12)
    stage.busy(2, 12)
    assert told(stage.fire(TimerKind.TURN)) == [1]
    assert stage.now == 1100.0
