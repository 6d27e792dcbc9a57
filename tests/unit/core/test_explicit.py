"""Memory that its owner copies out and in: all of it has to be on the device for a turn."""

from nvshare.core.effects import Answer, Grant, Revoke, Verdict
from nvshare.core.events import KindChanged, OverLimitChanged, TimerKind
from nvshare.core.memory import Kind, Memory
from nvshare.core.record.ways import TRIALS, Ways

from .stage import Stage

USABLE = 64


def join(stage: Stage, client: int, allocated: int) -> None:
    stage.join(client, allocated, kind=Kind.EXPLICIT)


def test_a_turn_brings_all_of_it_in() -> None:
    stage = Stage(USABLE)
    stage.join_native(2, 10)
    (managed,) = stage.join(1, 60, swapped=60)
    assert isinstance(managed, Grant)
    assert managed.fill_bytes == 54
    stage.leave(1)
    explicit = stage.join(3, 60, swapped=60, kind=Kind.EXPLICIT)[0]
    assert isinstance(explicit, Grant)
    assert explicit.fill_bytes == 0


def test_nothing_of_it_leaves_in_a_turn_because_of_a_limit() -> None:
    stage = Stage(USABLE)
    join(stage, 1, 40)
    stage.want(1)
    effects = stage.core.handle(OverLimitChanged(now=stage.now, client=1, over_limit=20))
    assert effects == []
    assert stage.device.roster.clients[1].excess.over_limit == 0


def _ways(first: Kind, second: Kind) -> bool:
    stage = Stage(USABLE, turn_seconds=10.0)
    # Displacing is faster, as far as is known.
    stage.device.state.ways = Ways(moved_out=TRIALS, displaced=TRIALS, moving_out=1.0)
    for client, kind in ((1, first), (2, second)):
        stage.join(client, 40, swapped=40, kind=kind)
        stage.want(client)
    stage.moved(1, Memory(40, 0, 0), in_bytes=40)
    revokes = [e for e in stage.fire(TimerKind.TURN) if isinstance(e, Revoke)]
    assert [revoke.client for revoke in revokes] == [1]
    return revokes[0].displace


def test_no_driver_pushes_it_out_and_it_pushes_nobody_out() -> None:
    assert _ways(Kind.MANAGED, Kind.MANAGED)
    assert not _ways(Kind.EXPLICIT, Kind.MANAGED)
    assert not _ways(Kind.MANAGED, Kind.EXPLICIT)
    assert not _ways(Kind.MIXED, Kind.MANAGED)


def test_with_managed_memory_beside_it_a_client_may_be_larger() -> None:
    stage = Stage(USABLE)
    join(stage, 1, 40)
    assert stage.memory(1, 65, ticket=1)[-1] == Answer(1, 1, Verdict.TOO_LARGE)
    stage.core.handle(KindChanged(now=stage.now, client=1, kind=Kind.MIXED))
    assert stage.memory(1, 80, ticket=2)[-1] == Answer(1, 2)
    stage.leave(1)
    (mixed,) = stage.join(2, 80, swapped=80, kind=Kind.MIXED)
    assert isinstance(mixed, Grant)
    assert mixed.fill_bytes == USABLE


def test_a_client_whose_memory_stays_from_now_on() -> None:
    stage = Stage(USABLE)
    join(stage, 1, 40)
    stage.core.handle(KindChanged(now=stage.now, client=1, kind=Kind.NATIVE))
    assert stage.device.roster.clients[1].memory.pinned == 40
    assert stage.device.roster.room == USABLE - 40
