"""The devices that a gang waits for; and nodes without gangs do not pay for gangs."""

from nvshare.core.core import Core
from nvshare.core.replay import replay

from .stage import Stage


def test_the_devices_are_named_that_a_gang_waits_for() -> None:
    stage = Stage(devices=3)
    for client in (20, 21, 22):
        stage.join(client, 12)
        stage.want(client)
    stage.gang(10, 11, 12)
    stage.leave(20)
    assert stage.core.outlook(10).waits_for == ("gpu1", "gpu2")
    stage.release(21)
    assert stage.core.outlook(11).waits_for == ("gpu2",)
    assert stage.core.outlook(22).waits_for == ()
    assert stage.core.client_view(10).in_gang
    assert not stage.core.client_view(22).in_gang
    stage.release(22)
    assert stage.core.outlook(10).waits_for == ()


def test_a_core_that_begins_with_a_snapshot_knows_its_gangs() -> None:
    stage = Stage()
    stage.gang(10, 11, is_new=True)
    stage.gang(20, 21, is_new=True)
    twin = Core(stage.core.snapshot(), check=True)
    assert [twin.client_view(one).in_gang for one in (10, 11, 20, 21)] == [True] * 4
    assert twin.outlook(20).waits_for == ("gpu0", "gpu1")
    stage.end_turns()
    stage.hand_over(10, 11)
    assert replay(stage.core.journal.lines(), check=True) == []
