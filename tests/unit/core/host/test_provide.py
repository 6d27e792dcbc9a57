"""Host memory that is made ahead for clients that copy their memory: how much, and when."""

from typing import Any

from nvshare.core.effects import Effect, Evict, Provide
from nvshare.core.events import HostDenied, HostMemoryChanged, HostRoomChanged, KindChanged
from nvshare.core.memory import Kind, Memory
from nvshare.core.settings import Mode

from ..stage import Stage

USABLE = 64


def provided(effects: list[Effect]) -> dict[int, int]:
    return {one.client: one.host_bytes for one in effects if isinstance(one, Provide)}


def join(stage: Stage, client: int, allocated: int, kind: Kind = Kind.EXPLICIT) -> list[Effect]:
    return stage.join(client, allocated, kind=kind)


def keeps(stage: Stage, client: int, kept: int, allocated: int) -> list[Effect]:
    return stage.moved(client, Memory(allocated, 0, 0, 0, kept))


def test_nothing_is_made_while_everything_fits() -> None:
    stage = Stage(USABLE)
    assert provided(join(stage, 1, 40)) == {}
    assert provided(join(stage, 2, 24)) == {}
    assert stage.core._host.room.kept == 0


def test_what_does_not_fit_is_made_ahead_for_everybody_who_copies() -> None:
    stage = Stage(USABLE)
    join(stage, 1, 40)
    join(stage, 2, 10)
    join(stage, 3, 10, Kind.MANAGED)
    # 16 bytes are too many. A client that gives way moves no more than that, nor more than it has.
    assert provided(stage.memory(2, 30)) == {1: 16, 2: 16}
    assert provided(join(stage, 4, 6)) == {1: 22, 2: 22, 4: 6}
    # It counts from now on: all others have less.
    clients = stage.device.roster.clients
    assert [clients[one].booked for one in (1, 2, 4)] == [22, 22, 6]


def test_it_is_not_given_up_when_others_go_but_when_memory_is_freed() -> None:
    stage = Stage(USABLE)
    join(stage, 1, 40)
    assert provided(join(stage, 2, 40)) == {1: 16, 2: 16}
    keeps(stage, 1, 16, 40)
    assert provided(stage.leave(2)) == {}
    assert stage.core._host.room.kept == 16
    assert provided(keeps(stage, 1, 10, 10)) == {1: 10}
    assert stage.core._host.room.kept == 10


def test_where_nobody_schedules_nobody_moves() -> None:
    stage = Stage(USABLE, mode=Mode.OFF)
    join(stage, 1, 40)
    assert provided(join(stage, 2, 40)) == {}


def test_on_a_host_that_cannot_hold_all_only_what_is_ordered_out_is_made() -> None:
    stage = Stage(USABLE, turn_seconds=10.0)
    stage.core.handle(HostMemoryChanged(now=stage.now, limit=70))
    join(stage, 1, 40)
    effects = join(stage, 2, 40)
    (evict,) = (one for one in effects if isinstance(one, Evict))
    assert provided(effects) == {evict.client: evict.evict_bytes}


def test_of_a_mixture_only_what_is_ordered_out_is_made() -> None:
    stage = Stage(USABLE)
    join(stage, 1, 40)
    stage.core.handle(KindChanged(now=stage.now, client=1, kind=Kind.MIXED))
    assert provided(join(stage, 2, 40)) == {2: 16}


def test_what_a_client_has_beyond_that_is_no_reason_for_more() -> None:
    stage = Stage(USABLE)
    facts: dict[str, Any] = {"kind": Kind.EXPLICIT, "running": True, "turn": 3}
    stage.join(1, 40, **facts)
    assert provided(keeps(stage, 1, 12, 40)) == {}
    assert stage.core._host.room.kept == 12
    join(stage, 2, 40)
    # Whole extents, and a little more.
    assert provided(keeps(stage, 1, 20, 40)) == {}
    assert stage.device.roster.clients[1].booked == 20


def test_what_could_not_be_made_cannot_leave() -> None:
    stage = Stage(USABLE)
    join(stage, 1, 40)
    join(stage, 2, 40)
    for client in (1, 2):
        keeps(stage, client, 4, 40)
    stage.core.handle(
        HostRoomChanged(now=stage.now, pool="made", room=0, limit=8, clients=(1, 2), what="all")
    )
    for client in (1, 2):
        stage.core.handle(HostDenied(now=stage.now, client=client))
    # The clients that were told to move out before say that they cannot.
    for client in (1, 2):
        keeps(stage, client, 4, 40)
    room, one = stage.core._host.room, stage.device.roster.clients[2]
    assert room.kept == 8
    assert room.stuck(one) == 36
    assert room.why(one).startswith("all of 0.0 GiB has 0.0 GiB left")
    # When extents can be made again, everything is as before.
    stage.core.handle(HostRoomChanged(now=stage.now, pool="made", room=None))
    clients = stage.device.roster.clients
    assert [clients[client].host_pages.provided for client in (1, 2)] == [16, 16]
    assert [clients[client].booked for client in (1, 2)] == [16, 16]
