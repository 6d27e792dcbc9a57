from nvshare.core.effects import Evict
from nvshare.core.events import HostMemoryChanged
from nvshare.core.moves.evict import evict, is_leaving
from nvshare.core.settings import Mode

from ..stage import Stage


def closed(limit: int | None = None) -> Stage:
    """A stage on which the second client has 8 bytes behind a closed gate."""
    stage = Stage(mode=Mode.SERIAL)
    stage.join(1, 4)
    stage.want(1)
    stage.join(2, 8)
    stage.core.handle(HostMemoryChanged(now=stage.now, limit=limit))
    return stage


def test_orders_add_up_where_the_host_has_room() -> None:
    roster = closed().device.roster
    client = roster.clients[2]
    assert evict(roster, client, 3) == [Evict(2, 3)]
    assert evict(roster, client, 2) == [Evict(2, 2)]
    assert (client.leaving, client.staying) == (5, 3)
    assert not is_leaving(roster, client)


def test_no_more_is_ordered_than_the_host_can_hold_and_one_order_at_a_time() -> None:
    roster = closed(limit=6).device.roster
    client = roster.clients[2]
    assert evict(roster, client, 8) == [Evict(2, 6)]
    assert is_leaving(roster, client)
    assert evict(roster, client, 1) == []


def test_nothing_is_no_order() -> None:
    roster = closed().device.roster
    assert evict(roster, roster.clients[2], 0) == []
