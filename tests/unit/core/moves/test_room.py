from nvshare.core.core import Core
from nvshare.core.effects import Answer, Effect, Evict, Grant, Handover, Revoke, Room
from nvshare.core.events import TimerKind
from nvshare.core.lease import State
from nvshare.core.memory import Kind, Memory
from nvshare.core.moves.room import tell_room
from nvshare.core.settings import Mode

from ..stage import Stage, told


def rooms(effects: list[Effect]) -> list[Room]:
    return [effect for effect in effects if isinstance(effect, Room)]


def changing() -> Stage:
    """Two clients of 12 bytes on 16: the first has given up its turn, and 8 bytes of it leave."""
    stage = Stage()
    stage.join(1, 12)
    stage.busy(2, 12)
    stage.fire(TimerKind.TURN)
    return stage


def test_who_is_granted_a_turn_is_told_what_room_is_missing() -> None:
    stage = changing()
    effects = stage.release(1, wants=True, memory=Memory(12, 0, 8), left=8)
    assert Grant(2, 2, missing=8) in effects


def test_what_has_left_by_then_is_room() -> None:
    stage = changing()
    effects = stage.release(1, wants=True, memory=Memory(12, 0, 8), left=3)
    assert Grant(2, 2, missing=3) in effects


def test_a_hand_over_tells_it_beforehand() -> None:
    stage = Stage()
    stage.join(1, 12)
    assert Handover(1, 1, 2, 2, missing=8) in stage.busy(2, 12)


def test_who_has_nothing_to_bring_in_misses_nothing() -> None:
    stage = Stage()
    stage.join(1, 12)
    stage.join(2, 12)
    stage.want(2)
    stage.fire(TimerKind.TURN)
    effects = stage.release(1, wants=True, memory=Memory(12, 0, 8), left=8)
    assert Grant(2, 2) in effects


def test_room_is_told_as_it_is_made() -> None:
    stage = changing()
    stage.release(1, wants=True, memory=Memory(12, 0, 8), left=8)
    effects = stage.moved(1, Memory(12, 0, 8), out_bytes=5, seconds=1, left=3)
    assert rooms(effects) == [Room(2, 2, 3)]
    effects = stage.moved(1, Memory(12, 0, 8), out_bytes=3, seconds=1)
    assert rooms(effects) == [Room(2, 2, 0)]


def test_what_was_told_is_not_told_again() -> None:
    stage = changing()
    stage.release(1, wants=True, memory=Memory(12, 0, 8), left=8)
    assert rooms(stage.moved(1, Memory(12, 0, 8), left=8)) == []
    assert rooms(stage.want(1)) == []


def test_who_was_handed_its_turn_is_told_if_less_has_left_than_was_expected() -> None:
    stage = Stage()
    stage.join(1, 12)
    stage.busy(2, 12)
    # It has grown since the hand-over was planned: the next client knows of too little.
    stage.memory(1, 14)
    effects = stage.release(1, wants=True, handed_to=2, handed_turn=2, left=0)
    assert rooms(effects) == [Room(2, 2, 10)]


def test_who_has_filled_is_told_no_more() -> None:
    stage = changing()
    stage.release(1, wants=True, memory=Memory(12, 0, 8), left=8)
    stage.moved(2, Memory(12), in_bytes=12, seconds=1)
    assert rooms(stage.moved(1, Memory(12, 0, 8), out_bytes=8, seconds=1)) == []


def test_the_end_of_one_who_was_leaving_is_room() -> None:
    stage = changing()
    stage.release(1, wants=True, memory=Memory(12, 0, 8), left=8)
    assert rooms(stage.leave(1)) == [Room(2, 2, 0)]


def test_one_who_does_not_leave_is_waited_for_only_so_long() -> None:
    stage = changing()
    stage.release(1, wants=True, memory=Memory(12, 0, 8), left=8)
    assert rooms(stage.fire(TimerKind.ROOM)) == [Room(2, 2, 0)]
    assert TimerKind.ROOM not in stage.device.state.alarms


def test_progress_lengthens_the_wait() -> None:
    stage = changing()
    stage.release(1, wants=True, memory=Memory(12, 0, 8), left=8)
    stage.now += 0.9
    stage.moved(1, Memory(12, 0, 8), out_bytes=1, seconds=0.9, left=7)
    assert stage.device.state.alarms[TimerKind.ROOM] == stage.now + 1.0


def test_no_timer_runs_when_there_is_room() -> None:
    stage = changing()
    stage.release(1, wants=True, memory=Memory(12, 0, 8), left=8)
    stage.moved(1, Memory(12, 0, 8), out_bytes=8, seconds=1)
    assert TimerKind.ROOM not in stage.device.state.alarms


def test_what_others_need_later_is_not_missing_to_those_who_were_first() -> None:
    stage = Stage()
    stage.join(1, 8)
    stage.join(2, 8)
    stage.busy(3, 6)
    stage.busy(4, 6)
    stage.fire(TimerKind.TURN)
    first = stage.release(2, wants=True, memory=Memory(8, 0, 6), left=0)
    assert Grant(3, 3) in first
    # The room for the third is there. The room that the fourth waits for does not concern it.
    later = stage.release(1, wants=True, memory=Memory(8, 0, 8), left=4)
    assert [effect for effect in rooms(later) if effect.client == 3] == []


def test_one_that_comes_back_while_it_leaves_has_what_it_had() -> None:
    stage = changing()
    stage.release(1, wants=True, memory=Memory(12, 0, 8), left=8)
    stage.leave(2)
    assert stage.device.roster.outbound_bytes == 0


def answers(effects: list[Effect]) -> list[Answer]:
    return [effect for effect in effects if isinstance(effect, Answer)]


def full() -> Stage:
    """Two clients of 8 bytes run together on 16, and no driver would push any of that out."""
    stage = Stage(context=2)
    for client in (1, 2):
        stage.join(client, 8, kind=Kind.EXPLICIT)
        stage.want(client)
    stage.join(3)
    return stage


def test_a_newcomer_is_answered_when_those_who_run_have_made_room_for_its_context() -> None:
    stage = full()
    effects = stage.ask_for_context(3, 2, ticket=7)
    # One of them gives way, and two of its bytes leave.
    assert [(e.client, e.evict_bytes) for e in effects if isinstance(e, Revoke)] == [(2, 2)]
    assert answers(effects) == []
    assert answers(stage.release(2, wants=True, memory=Memory(8, 0, 2), left=2)) == []
    assert answers(stage.moved(2, Memory(8, 0, 2), out_bytes=1, seconds=1, left=1)) == []
    effects = stage.moved(2, Memory(8, 0, 2), out_bytes=1, seconds=1)
    assert effects[-1] == Answer(3, 7)
    assert answers(stage.moved(2, Memory(8, 0, 2))) == []


def test_memory_that_nobody_uses_leaves_for_a_context_without_any_change_of_turn() -> None:
    stage = full()
    stage.join(4, 4, swapped=4, kind=Kind.EXPLICIT)
    stage.release(2)
    assert stage.state(2) is State.IDLE
    effects = stage.ask_for_context(3, 2, ticket=7)
    assert (told(effects), Evict(2, 2) in effects) == ([], True)
    assert stage.moved(2, Memory(8, 0, 2), out_bytes=2, seconds=1)[-1] == Answer(3, 7)


def test_who_gives_way_is_waited_for_longer_than_who_moves() -> None:
    stage = full()
    stage.ask_for_context(3, 2, ticket=7)
    # Nothing moves while work drains, and draining may take as long as for any other client.
    assert TimerKind.ROOM not in stage.device.state.alarms
    stage.now += 10
    assert answers(stage.release(2, wants=True, memory=Memory(8, 0, 2), left=2)) == []
    # It is stuck halfway: the newcomer is to see for itself.
    assert answers(stage.fire(TimerKind.ROOM)) == [Answer(3, 7)]


def test_nobody_waits_for_who_does_not_give_way_at_all() -> None:
    stage = full()
    stage.ask_for_context(3, 2, ticket=7)
    assert answers(stage.fire(TimerKind.PATIENCE)) == [Answer(3, 7)]


def test_a_newcomer_that_goes_is_not_answered() -> None:
    stage = full()
    stage.ask_for_context(3, 2, ticket=7)
    stage.leave(3)
    assert answers(stage.release(2, wants=True)) == []


def test_where_nobody_takes_turns_no_room_is_made_and_none_is_waited_for() -> None:
    stage = full()
    stage.change(mode=Mode.CONCURRENT)
    assert stage.ask_for_context(3, 2, ticket=7) == [Answer(3, 7)]


def test_a_newcomer_outlives_a_snapshot() -> None:
    stage = full()
    stage.ask_for_context(3, 2, ticket=7)
    twin = Core(stage.core.snapshot(), check=True)
    assert list(twin._devices["gpu"].roster.newcomers) == [3]


def test_newcomers_are_answered_in_an_order_that_a_snapshot_keeps() -> None:
    stage = full()
    stage.join(4)
    stage.ask_for_context(4, 1)
    stage.ask_for_context(3, 1)
    assert answers(stage.fire(TimerKind.PATIENCE)) == [Answer(3, 1), Answer(4, 1)]


def test_who_brings_memory_in_is_told_in_an_order_that_a_snapshot_keeps() -> None:
    stage = Stage()
    stage.join(1, 4)
    stage.join(2, 4)
    roster = stage.device.roster
    for name in (2, 1):
        roster.set_missing(roster.clients[name], 3, 3)
    told_of = rooms(tell_room(roster, stage.now))
    assert [(one.client, one.missing) for one in told_of] == [(1, 0), (2, 0)]
