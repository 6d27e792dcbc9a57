from typing import Any

import pytest

from nvshare.core.clients.host_room import NOTHING_KEPT, HostRoom, Kept
from nvshare.core.effects import Revoke, Urgency
from nvshare.core.events import TimerKind
from nvshare.core.lease import State
from nvshare.core.memory import Memory
from nvshare.core.moves.sizes import fill_bytes, incoming_bytes, share_out
from nvshare.core.record.client import Client
from nvshare.core.record.device import HostState
from nvshare.core.record.moving import Moving
from nvshare.core.settings import Mode

from ..stage import Stage


def test_who_comes_in_needs_what_it_does_not_have_there() -> None:
    clients = [Client(1, memory=Memory(10, 2, 3)), Client(2, memory=Memory(5), moving=Moving(4))]
    assert incoming_bytes(clients, 16) == 3 + 4
    assert incoming_bytes(clients, 6) == 1 + 4


def test_what_has_to_go_is_shared_out_and_no_more() -> None:
    clients = [Client(number, memory=Memory(4)) for number in (1, 2, 3)]
    free = HostRoom().allowance()
    assert [evicted for _, evicted in share_out(clients, 6, free)] == [4, 2, 0]
    assert [evicted for _, evicted in share_out(clients, -6, free)] == [0, 0, 0]


def test_nobody_is_to_move_what_the_host_cannot_hold() -> None:
    clients = [Client(number, memory=Memory(4), state=State.IDLE) for number in (1, 2, 3)]
    host = HostRoom(HostState(limit=3))
    for client in clients:
        host.count(client, NOTHING_KEPT, Kept.of(client))
    assert [evicted for _, evicted in share_out(clients, 6, host.allowance())] == [3, 0, 0]


@pytest.mark.parametrize(("size", "room", "filled"), [(8, 8, 0), (9, 8, 8), (0, -1, 0), (2, -1, 1)])
def test_what_is_brought_in_is_all_or_as_much_as_there_is_room(
    size: int, room: int, filled: int
) -> None:
    assert fill_bytes(Client(1, memory=Memory(size)), room) == filled


# How long a client may rest before it gives way.


def rests(stage: Stage, client: int, head: int, seconds: float) -> None:
    """Have a client give way to the head because it rests, for this long in all."""
    stage.now += stage.device.roster.clients[client].turn.idle_seconds
    stage.release(client, memory=stage.device.roster.clients[client].memory)
    stage.now += seconds - stage.device.roster.clients[client].turn.idle_seconds
    asks(stage, client)
    stage.release(head)


def asks(stage: Stage, client: int) -> float:
    """Have a client want a turn; return how long the holder may rest before it gives way."""
    (revoke,) = (e for e in stage.want(client) if isinstance(e, Revoke))
    assert revoke.urgency is Urgency.WHEN_IDLE
    return revoke.idle_seconds


def contended(**settings: Any) -> Stage:
    """Have 1 run with 12 bytes and make room for 2, at 2 bytes a second."""
    stage = Stage(initial_bandwidth=2, turn_seconds=1000, turn_max=1000, **settings)
    stage.join(1, 12)
    stage.join(2, 12, swapped=10)
    return stage


def test_as_long_as_moving_the_memory_takes() -> None:
    # 10 bytes come in, while 6 leave.
    assert asks(contended(), 2) == 5.0
    assert asks(contended(idle_grace=9.0), 2) == 9.0


def test_not_for_long_if_nothing_has_to_move() -> None:
    stage = Stage(initial_bandwidth=2, mode=Mode.SERIAL)
    stage.join(1, 4)
    stage.join(2, 4)
    assert asks(stage, 2) == 0.05


def test_in_a_group_too_what_would_have_to_move_counts() -> None:
    stage = Stage(initial_bandwidth=2)
    stage.join(1, 8)
    stage.join(2, 8)
    stage.join(3, 16, swapped=16)
    effects = stage.want(3)
    # Neither is to move anything by itself, because that would not let 3 in.
    assert [(e.evict_bytes, e.idle_seconds) for e in effects if isinstance(e, Revoke)] == [
        (0, 8.0),
        (0, 8.0),
    ]


def test_who_rested_long_enough_last_time_is_taken_to_do_so_again() -> None:
    stage = contended()
    asks(stage, 2)
    rests(stage, 1, 2, seconds=5.0)
    assert stage.states() == {1: "running", 2: "idle"}
    assert asks(stage, 2) == 0.05


def test_who_came_back_too_soon_is_given_longer() -> None:
    stage = contended()
    asks(stage, 2)
    rests(stage, 1, 2, seconds=5.0)
    asks(stage, 2)
    rests(stage, 1, 2, seconds=4.9)
    assert asks(stage, 2) == 5.0


def test_who_was_told_to_go_while_it_rested_may_have_rested_for_long_too() -> None:
    stage = contended()
    stage.want(2)
    stage.fire(TimerKind.TURN)
    stage.release(1, memory=Memory(12, 0, 6))
    stage.now += 60
    stage.want(1)
    stage.release(2, memory=Memory(12, 0, 6))
    assert asks(stage, 2) == 0.05
