import pytest

from nvshare.core.core import Core
from nvshare.core.effects import CancelHandover, Effect, Evict, Handover, Keep, Revoke, Urgency
from nvshare.core.events import (
    HostMemoryChanged,
    LimitsChanged,
    ParkChanged,
    Reason,
    Released,
    TimerKind,
)
from nvshare.core.memory import Kind, Memory
from nvshare.core.moves.reports import RETRY_SECONDS
from nvshare.core.record.client import Park
from nvshare.core.record.device import RegimeName
from nvshare.core.settings import Limits, Mode, Priority

from ..stage import Stage, asked, granted, told

REST = 100.0


def park(stage: Stage, client: int, *, parked: bool = True) -> list[Effect]:
    return stage.core.handle(ParkChanged(now=stage.now, client=client, parked=parked))


def unpark(stage: Stage, client: int) -> list[Effect]:
    return park(stage, client, parked=False)


def evictions(effects: list[Effect]) -> dict[int, int]:
    return {e.client: e.evict_bytes for e in effects if isinstance(e, Evict)}


def why(stage: Stage, client: int) -> Park | None:
    return stage.device.roster.clients[client].park


def regime(stage: Stage) -> RegimeName:
    return stage.device.state.regime


def away(size: int) -> Memory:
    return Memory(size, 0, size)


def parked_by_hand(stage: Stage, client: int, *, wants: bool = False) -> None:
    """Have a client that runs parked, with all of its memory out."""
    size = stage.device.roster.clients[client].memory.swappable
    park(stage, client)
    stage.release(client, wants=wants)
    stage.moved(client, away(size), out_bytes=size, seconds=1.0)


# By hand.


def test_who_is_parked_by_hand_gives_its_turn_up_and_then_moves_everything_out() -> None:
    stage = Stage()
    stage.join(1, 8)
    assert park(stage, 1)[:1] == [Revoke(1, 1, Urgency.NOW)]
    assert stage.state(1).value == "yielding"
    assert evictions(stage.release(1)) == {1: 8}
    assert stage.moved(1, away(8), out_bytes=8, seconds=1.0) == []
    assert (stage.state(1).value, why(stage, 1)) == ("idle", Park.BY_HAND)


def test_it_gets_no_turn_although_everything_fits_until_a_person_says_so() -> None:
    stage = Stage()
    stage.join(1, 4)
    stage.join(2, 4)
    parked_by_hand(stage, 1)
    assert granted(stage.want(1)) == []
    assert granted(stage.leave(2)) == []
    assert stage.states() == {1: "waiting"}
    assert granted(unpark(stage, 1)) == [1]


def test_who_waits_as_it_is_parked_does_not_lead_any_more() -> None:
    stage = Stage()
    stage.join(1, 12)
    assert any(isinstance(effect, Handover) for effect in stage.busy(2, 12))
    effects = park(stage, 2)
    # No client waits, so the other need not give way; Keep takes the hand-over back as well.
    assert Keep(1, 1) in effects
    assert stage.device.state.head is None
    assert list(stage.device.roster.barred) == [2]
    # The next one is the head.
    stage.busy(3, 12)
    assert stage.device.state.head == 3
    assert asked(unpark(stage, 2)) == []
    assert [client.id for client in stage.device.roster.waiting] == [3, 2]


def test_who_was_handed_a_turn_before_it_heard_of_it_gives_that_up() -> None:
    stage = Stage()
    stage.join(1, 12)
    stage.busy(2, 12)
    stage.busy(3, 12)
    effects = park(stage, 2)
    assert [e for e in effects if isinstance(e, Handover | CancelHandover)] != []
    # The first had given its turn to the second by then.
    effects = stage.release(1, reason=Reason.IDLE, handed_to=2, handed_turn=2)
    assert granted(effects) == [2]
    assert told(effects) == [2]
    assert granted(stage.release(2, wants=True)) == [3]


def test_a_parked_program_takes_no_room_from_the_others() -> None:
    stage = Stage()
    stage.join(1, 12)
    parked_by_hand(stage, 1)
    # Without it everything fits: none is asked for anything, and no timer runs.
    assert granted(stage.busy(2, 8)) == [2]
    assert granted(stage.busy(3, 8)) == [3]
    assert stage.device.roster.everything_fits
    assert stage.device.state.alarms == {}
    # With it, they take turns.
    stage.want(1)
    assert asked(unpark(stage, 1)) == [2, 3]


def test_others_come_as_soon_as_a_busy_one_has_given_way_and_wait_for_the_room() -> None:
    stage = Stage()
    stage.join(1, 12)
    stage.busy(2, 12)
    park(stage, 1)
    effects = stage.release(1, wants=True)
    assert granted(effects) == [2]
    assert evictions(effects) == {1: 12}
    assert stage.states() == {1: "waiting", 2: "running"}


def test_who_is_parked_has_no_part_in_who_takes_short_turns() -> None:
    stage = Stage(slice_seconds=1.0)
    for client in (1, 2):
        stage.join(client, 4)
        stage.used(client, 0.0)
    stage.now += 2
    stage.used(1, 2.0)
    stage.used(2, 2.0)
    assert regime(stage) is RegimeName.BUSY
    (runs,) = stage.device.roster.running
    parked_by_hand(stage, runs, wants=True)
    assert regime(stage) is RegimeName.MEMORY
    stage.used(runs, 100.0)
    assert stage.device.roster.busy == 1


def test_who_is_parked_has_no_part_in_who_goes_before_whom() -> None:
    stage = Stage()
    stage.join(1, 4, limits=Limits(priority=Priority.LOW))
    stage.join(2, 4)
    stage.want(2, 0)
    assert regime(stage) is RegimeName.RANKED
    park(stage, 1)
    if stage.state(1).value == "yielding":
        stage.release(1)
    assert regime(stage) is RegimeName.MEMORY
    changed = Limits(priority=Priority.HIGH)
    stage.core.handle(LimitsChanged(now=stage.now, client=1, limits=changed))
    assert regime(stage) is RegimeName.MEMORY
    unpark(stage, 1)
    assert regime(stage) is RegimeName.RANKED


def test_time_behind_the_gate_is_no_time_in_the_queue() -> None:
    stage = Stage(policy="fifo")
    stage.join(1, 12)
    parked_by_hand(stage, 1, wants=True)
    stage.join(2, 12)
    stage.now += 1e6
    unpark(stage, 1)
    # It does not go first for having waited a million seconds.
    client = stage.device.roster.clients[1]
    assert (client.since, client.precedence.rank) == (stage.now, stage.now)


def test_nothing_happens_twice() -> None:
    stage = Stage()
    stage.join(1, 8)
    assert unpark(stage, 1) == []
    park(stage, 1)
    at = stage.device.roster.clients[1].parked_at
    stage.now += 1
    assert park(stage, 1) == []
    assert stage.device.roster.clients[1].parked_at == at


def test_who_is_unparked_before_it_has_given_way_comes_back_at_once() -> None:
    stage = Stage()
    stage.join(1, 8)
    park(stage, 1)
    assert unpark(stage, 1) == []
    assert granted(stage.release(1)) == [1]


def test_who_joins_parked_never_runs() -> None:
    stage = Stage()
    assert granted(stage.join(1, 4, parked=True)) == []
    assert granted(stage.want(1)) == []
    # One that ran already gives way.
    assert told(stage.join(2, 4, running=True, parked=True)) == [2]
    assert granted(unpark(stage, 1)) == [1]


def test_parked_and_gone() -> None:
    stage = Stage()
    for client in (1, 2, 3):
        stage.join(client, 4)
    parked_by_hand(stage, 1)
    parked_by_hand(stage, 2, wants=True)
    park(stage, 3)
    for client in (1, 2, 3):
        stage.leave(client)
    roster = stage.device.roster
    assert (roster.parked, roster.barred, roster.parked_away) == ({}, {}, 0)


def test_a_silent_one_is_not_waited_for_for_ever() -> None:
    stage = Stage(revoke_patience=5.0)
    stage.join(1, 12)
    park(stage, 1)
    stage.busy(2, 12)
    assert stage.states() == {1: "yielding", 2: "waiting"}
    assert granted(stage.fire(TimerKind.PATIENCE)) == [2]
    # When it answers at last, it is parked all the same.
    assert evictions(stage.release(1, wants=True)) == {1: 12}
    assert stage.states() == {1: "waiting", 2: "running"}


@pytest.mark.parametrize("mode", [Mode.CONCURRENT, Mode.OFF, Mode.SERIAL])
def test_by_hand_in_every_mode(mode: Mode) -> None:
    stage = Stage(mode=mode)
    stage.join(1, 8)
    stage.want(1)
    assert told(park(stage, 1)) == [1]
    assert evictions(stage.release(1, wants=True)) == {1: 8}
    assert granted(unpark(stage, 1)) == [1]


# The room on the host.


def limit_host(stage: Stage, limit: int) -> list[Effect]:
    return stage.core.handle(HostMemoryChanged(now=stage.now, limit=limit))


def test_as_much_leaves_as_the_host_can_hold_and_the_rest_when_it_can() -> None:
    stage = Stage()
    stage.join(1, 12)
    limit_host(stage, 5)
    park(stage, 1)
    assert evictions(stage.release(1)) == {1: 5}
    stage.moved(1, Memory(12, 0, 5), out_bytes=5, seconds=1.0)
    # The part that stays takes room, and no client may push it out.
    assert not stage.device.roster.everything_fits or stage.device.roster.everyone_load.weight == 7
    assert granted(stage.busy(2, 12)) == []
    assert evictions(limit_host(stage, 12)) == {1: 7}


def test_what_stays_is_in_the_way_of_one_that_is_alone_too() -> None:
    stage = Stage(mode=Mode.SERIAL)
    stage.join(1, 4)
    limit_host(stage, 0)
    park(stage, 1)
    assert evictions(stage.release(1)) == {}
    stage.join(2, 8)
    stage.want(2)
    # It grows until the memory that cannot leave has no room beside it any more.
    assert told(stage.memory(2, 16)) == [2]


def test_what_cannot_move_is_not_asked_for_all_the_time() -> None:
    stage = Stage()
    stage.join(1, 12)
    park(stage, 1)
    assert evictions(stage.release(1)) == {1: 12}
    assert evictions(stage.moved(1, Memory(12))) == {}
    assert stage.device.state.alarms == {TimerKind.PARK: stage.now + RETRY_SECONDS}
    assert evictions(stage.fire(TimerKind.PARK)) == {1: 12}
    stage.moved(1, away(12), out_bytes=12, seconds=1.0)
    assert stage.device.state.alarms == {}


def test_memory_that_never_moves_stays_where_it_is() -> None:
    stage = Stage()
    stage.join_native(1, 8)
    park(stage, 1)
    assert evictions(stage.release(1)) == {}
    assert why(stage, 1) is Park.BY_HAND


# For being idle.


def idle(stage: Stage, client: int) -> list[Effect]:
    """Let a client that runs rest for as long as it takes."""
    effects = stage.fire(TimerKind.PARK)
    assert asked(effects) == [client]
    (order,) = (e for e in effects if isinstance(e, Revoke))
    assert order.evict_bytes == 0
    stage.now += order.idle_seconds
    return stage.release(client, reason=Reason.IDLE)


def test_who_is_idle_for_long_moves_everything_out_though_nobody_needs_it() -> None:
    stage = Stage(idle_park=REST)
    stage.join(1, 8)
    began = stage.now
    assert evictions(idle(stage, 1)) == {1: 8}
    assert stage.now == began + REST
    assert (stage.state(1).value, why(stage, 1)) == ("idle", Park.IDLE)
    assert stage.device.state.alarms == {}


@pytest.mark.parametrize("kind", [Kind.MANAGED, Kind.EXPLICIT])
def test_it_comes_back_with_its_next_call(kind: Kind) -> None:
    stage = Stage(idle_park=REST)
    stage.join(1, 8, kind=kind)
    idle(stage, 1)
    stage.moved(1, away(8), out_bytes=8, seconds=1.0)
    assert granted(stage.want(1)) == [1]
    assert why(stage, 1) is None


def test_it_comes_back_as_anybody_who_asks_for_a_turn() -> None:
    stage = Stage(idle_park=REST)
    stage.join(1, 12)
    idle(stage, 1)
    stage.moved(1, away(12), out_bytes=12, seconds=1.0)
    stage.busy(2, 12)
    assert asked(stage.want(1)) == [2]
    assert stage.states() == {1: "waiting", 2: "running"}


def test_without_the_setting_nobody_is_looked_at() -> None:
    stage = Stage()
    stage.join(1, 8)
    assert stage.device.state.alarms == {}


def test_who_works_is_not_asked_to_rest() -> None:
    stage = Stage(idle_park=REST)
    stage.join(1, 8)
    for second in range(1, 500):
        stage.now += 1
        assert asked(stage.used(1, second / 2)) == []
    # Nor when a look comes early.
    assert asked(stage.fire(TimerKind.PARK, stage.now)) == []


def test_who_works_again_need_not_give_way() -> None:
    stage = Stage(idle_park=REST)
    stage.join(1, 8)
    stage.fire(TimerKind.PARK)
    assert Keep(1, 1) in stage.used(1, 1.0)
    # It had given up its turn by then: that is no long rest, and its gate opens again.
    assert granted(stage.release(1, reason=Reason.IDLE)) == [1]
    assert why(stage, 1) is None


def test_who_gave_way_for_another_order_has_not_rested() -> None:
    stage = Stage(idle_park=REST)
    stage.join(1, 8)
    stage.fire(TimerKind.PARK)
    stage.now += 1.0
    assert granted(stage.release(1, reason=Reason.IDLE)) == [1]


def test_a_program_that_waits_for_the_place_goes_before_a_long_rest() -> None:
    stage = Stage(idle_park=REST)
    stage.join(1, 12)
    stage.fire(TimerKind.PARK)
    stage.busy(2, 12)
    client = stage.device.roster.clients[1]
    assert (client.turn.soft_revoked, client.rest.asked_at) == (True, None)
    # And when it does not wait any longer, the rest counts again.
    assert Keep(1, 1) in stage.leave(2)
    assert client.rest.asked_at is not None


def test_who_gave_way_for_somebody_is_parked_when_its_rest_is_long_enough() -> None:
    stage = Stage(idle_park=REST)
    stage.join(1, 12)
    stage.busy(2, 4)
    stage.busy(3, 4)
    stage.release(1, reason=Reason.IDLE, memory=Memory(12, 0, 4))
    began = stage.device.roster.clients[1].rest.since
    assert began is not None
    for client in (2, 3):
        stage.used(client, 1.0)
    # Until then all its memory counts, and the others might have to give way for it.
    assert not stage.device.roster.everything_fits
    while why(stage, 1) is None:
        stage.now += 1
        for client in (2, 3):
            stage.used(client, stage.now / 1000)
    assert stage.now == pytest.approx(began + REST, abs=1.0)
    assert stage.device.roster.everything_fits


def test_who_has_nothing_is_not_parked() -> None:
    stage = Stage(idle_park=REST)
    stage.join(1)
    stage.join_native(2, 4)
    assert stage.device.state.alarms == {}


@pytest.mark.parametrize("mode", [Mode.CONCURRENT, Mode.OFF])
def test_where_nobody_is_scheduled_nobody_is_parked_for_being_idle(mode: Mode) -> None:
    stage = Stage(mode=mode, idle_park=REST)
    stage.join(1, 8)
    assert stage.device.state.alarms == {}


def test_turning_it_off_takes_back_what_was_asked() -> None:
    stage = Stage(idle_park=REST)
    stage.join(1, 8)
    stage.fire(TimerKind.PARK)
    assert Keep(1, 1) in stage.change(idle_park=None)
    assert stage.device.state.alarms == {}


def test_another_setting_is_asked_for_at_once() -> None:
    stage = Stage(idle_park=REST)
    stage.join(1, 8)
    stage.fire(TimerKind.PARK)
    effects = stage.change(idle_park=REST / 10)
    assert effects[:2] == [Keep(1, 1), Revoke(1, 1, Urgency.WHEN_IDLE, idle_seconds=7.5)]
    stage.now += 7.5
    assert evictions(stage.release(1, reason=Reason.IDLE)) == {1: 8}
    # A longer one begins anew.
    stage.want(1)
    stage.fire(TimerKind.PARK)
    assert Keep(1, 2) in stage.change(idle_park=REST)


def test_a_rest_that_is_longer_than_an_order_can_say() -> None:
    stage = Stage(idle_park=86400.0)
    stage.join(1, 8)
    began = stage.now
    assert evictions(idle(stage, 1)) == {1: 8}
    assert stage.now == began + 86400.0


def test_who_was_parked_for_being_idle_can_be_parked_by_hand() -> None:
    stage = Stage(idle_park=REST)
    stage.join(1, 8)
    idle(stage, 1)
    stage.moved(1, away(8), out_bytes=8, seconds=1.0)
    park(stage, 1)
    assert granted(stage.want(1)) == []
    assert why(stage, 1) is Park.BY_HAND


def test_a_snapshot_has_it_all() -> None:
    stage = Stage(idle_park=REST)
    for client in (1, 2, 3, 4):
        stage.join(client, 4)
    parked_by_hand(stage, 1, wants=True)
    parked_by_hand(stage, 2)
    stage.used(4, 1.0)
    stage.fire(TimerKind.PARK)
    twin = Core(stage.core.snapshot(), check=True)
    event = ParkChanged(now=stage.now, client=1, parked=False)
    assert twin.handle(event) == stage.core.handle(event)
    event2 = Released(
        now=stage.now + REST,
        client=3,
        turn=stage.device.roster.clients[3].turn.number,
        reason=Reason.IDLE,
        memory=Memory(4),
    )
    effects = twin.handle(event2)
    assert effects == stage.core.handle(event2)
    assert evictions(effects) == {3: 4}


def test_a_journal_that_is_replayed_tells_the_same() -> None:
    stage = Stage(idle_park=REST)
    stage.join(1, 4)
    stage.join(2, 4)
    stage.now += 5
    stage.used(1, 1.0)
    # The second is asked first, and a snapshot keeps the order in which they came.
    assert asked(stage.fire(TimerKind.PARK)) == [2]
    assert asked(stage.fire(TimerKind.PARK)) == [1]
    kept = [e.client for e in stage.change(idle_park=None) if isinstance(e, Keep)]
    assert kept == [1, 2]
