"""Memory that does not fit on the devices goes to the host, and the host is finite."""

from typing import Any

from nvshare.core.core import Core
from nvshare.core.effects import Answer, Effect, Evict, Report, ReportKind, Revoke, Verdict
from nvshare.core.events import (
    ClientJoined,
    ClientLeft,
    DeviceAdded,
    HostMemoryChanged,
    HostRoomChanged,
    MemoryChanged,
    OverLimitChanged,
    TimerKind,
    Wanted,
)
from nvshare.core.journal.codec import from_json, to_json
from nvshare.core.memory import Kind, Memory
from nvshare.core.record.device import Snapshot
from nvshare.core.settings import Mode

from ..stage import GPU, Stage, granted, told

GIB = 1 << 30


def limited(limit: int, usable: int = 16, **settings: Any) -> Stage:
    stage = Stage(usable, **settings)
    stage.core.handle(HostMemoryChanged(now=stage.now, limit=limit))
    return stage


def look(stage: Stage, room: int | None, *clients: int, pool: str = "pod") -> list[Effect]:
    """Tell the core how much can be charged to a cgroup."""
    event = HostRoomChanged(now=stage.now, pool=pool, room=room, limit=4, clients=clients)
    return stage.core.handle(event)


def verdict(effects: list[Effect]) -> Verdict:
    answer = effects[-1]
    assert isinstance(answer, Answer)
    return answer.verdict


def reports(effects: list[Effect]) -> list[tuple[ReportKind, int | None]]:
    return [(e.kind, e.client) for e in effects if isinstance(e, Report)]


def ordered(effects: list[Effect]) -> dict[int, int]:
    """Return the bytes that each client was told to move out."""
    orders = [effect for effect in effects if isinstance(effect, Revoke | Evict)]
    return {effect.client: effect.evict_bytes for effect in orders if effect.evict_bytes}


def end_turn(stage: Stage, client: int) -> tuple[dict[int, int], list[int]]:
    """End a turn, and let the holder give way. Returns the orders, and which clients then run."""
    orders = ordered(stage.fire(TimerKind.TURN))
    assert stage.states()[client] == "yielding"
    evicted = orders.get(client, 0)
    size = stage.device.roster.clients[client].memory.allocated
    memory = Memory(size, 0, evicted)
    effects = stage.release(client, memory=memory, moved_bytes=evicted, wants=True)
    return orders | ordered(effects), granted(effects)


# Memory that cannot leave.


def test_who_needs_memory_of_another_that_cannot_leave_waits_until_that_ends() -> None:
    stage = Stage(149)
    look(stage, 20, 1)
    stage.busy(1, 112)
    effects = stage.busy(2, 112)
    assert stage.states() == {1: "running", 2: "waiting"}
    assert reports(effects) == [(ReportKind.HELD_UP, 2), (ReportKind.STUCK, 1)]
    assert stage.device.state.alarms == {}
    assert granted(stage.leave(1)) == [2]


def test_it_runs_as_soon_as_there_is_room_in_the_cgroup() -> None:
    stage = Stage(149)
    look(stage, 20, 1)
    stage.busy(1, 112)
    stage.busy(2, 112)
    look(stage, 74, 1)
    assert stage.device.state.head is None
    look(stage, 75, 1)
    assert stage.device.state.head == 2
    orders, running = end_turn(stage, 1)
    assert (orders, running) == ({1: 75}, [2])


def test_a_cgroup_without_a_limit_any_more_holds_nobody_up() -> None:
    stage = Stage(149)
    look(stage, 20, 1)
    stage.busy(1, 112)
    stage.busy(2, 112)
    look(stage, None)
    assert stage.device.state.head == 2


def test_when_it_shrinks_the_other_runs_beside_it() -> None:
    stage = Stage(149)
    look(stage, 20, 1)
    stage.busy(1, 112)
    stage.busy(2, 112)
    assert granted(stage.memory(1, 37)) == [2]


def test_three_of_which_the_host_holds_two_take_turns_as_far_as_it_goes() -> None:
    stage = limited(200, 149)
    for client in (1, 2, 3):
        stage.busy(client, 112)
    assert end_turn(stage, 1) == ({1: 75}, [2])
    assert end_turn(stage, 2) == ({2: 112}, [3])
    assert stage.core._host.room.kept == 75 + 112
    # Only 13 of the third could leave, and 75 would have to.
    assert stage.states() == {1: "waiting", 2: "waiting", 3: "running"}
    assert stage.device.state.head is None
    stage.leave(3)
    assert stage.states() == {1: "running", 2: "waiting"}
    for holder, next_client in ((1, 2), (2, 1), (1, 2)):
        assert end_turn(stage, holder) == ({holder: 75}, [next_client])


def test_nobody_else_runs_out_of_turns_because_the_first_in_the_queue_is_held_up() -> None:
    stage = Stage(16)
    look(stage, 0, 1)
    stage.busy(1, 6)
    stage.busy(2, 12)
    stage.busy(3, 9)
    assert stage.states() == {1: "running", 2: "waiting", 3: "running"}
    stage.busy(4, 9)
    assert stage.device.state.head == 4
    assert told(stage.fire(TimerKind.TURN)) == [3]
    assert granted(stage.release(3, wants=True, memory=Memory(9, 0, 8))) == [4]


def test_who_is_larger_than_the_device_runs_alone_but_not_beside_what_cannot_leave() -> None:
    stage = Stage(16)
    look(stage, 0, 1)
    stage.busy(1, 1)
    stage.busy(2, 20)
    assert stage.states() == {1: "running", 2: "waiting"}
    assert granted(stage.leave(1)) == [2]


def test_who_grows_beside_what_cannot_leave_stops_and_waits() -> None:
    stage = Stage(16)
    look(stage, 0, 1, 2)
    stage.busy(1, 6)
    stage.busy(2, 8)
    assert told(stage.memory(1, 10, ticket=1)) == [1]
    stage.release(1, wants=True, memory=Memory(10, 0, 4))
    assert stage.states() == {1: "waiting", 2: "running"}
    assert granted(stage.leave(2)) == [1]


def test_a_silent_holder_is_pushed_out_only_as_far_as_it_may_leave() -> None:
    stage = Stage(16, revoke_patience=5.0)
    look(stage, 4, 1)
    stage.busy(1, 12)
    stage.busy(2, 8)
    stage.fire(TimerKind.TURN)
    stage.busy(3, 9)
    stage.fire(TimerKind.PATIENCE)
    assert stage.states() == {1: "yielding", 2: "running", 3: "waiting"}
    assert stage.device.roster.clients[1].booked == 4
    look(stage, 0, 1)
    assert stage.states()[3] == "waiting"


def test_excess_leaves_only_as_far_as_the_host_holds_it() -> None:
    stage = Stage(16)
    look(stage, 2, 1)
    stage.busy(1, 8)
    effects = stage.core.handle(OverLimitChanged(now=stage.now, client=1, over_limit=5))
    assert [effect.trim_bytes for effect in effects if hasattr(effect, "trim_bytes")] == [2]
    assert stage.core.handle(OverLimitChanged(now=stage.now, client=1, over_limit=6)) == []


def test_who_has_everything_in_goes_on_if_nobody_could_run() -> None:
    stage = Stage(16)
    look(stage, 0, 1, 2)
    stage.busy(1, 8)
    stage.busy(2, 8)
    stage.change(usable=15)
    stage.release(2, wants=True)
    assert stage.states() == {1: "running", 2: "waiting"}
    assert granted(stage.release(1)) == [2]


def test_nobody_who_may_give_way_by_itself_is_told_what_to_move_where_the_host_is_short() -> None:
    stage = limited(20)
    stage.busy(1, 12)
    effects = stage.busy(2, 12)
    assert [e.evict_bytes for e in effects if isinstance(e, Revoke)] == [0]
    effects = stage.release(1, memory=Memory(12))
    assert ordered(effects) == {1: 8}


def test_one_device_goes_on_when_there_is_room_because_of_another() -> None:
    core = Core(check=True)
    core.handle(HostMemoryChanged(now=0.0, limit=8))
    for number, name in enumerate(("a", "b")):
        core.handle(DeviceAdded(now=0.0, device=name, usable_bytes=16))
        for client in (10 * number + 1, 10 * number + 2):
            memory = Memory(12, 0, 12)
            core.handle(ClientJoined(now=0.0, client=client, device=name, memory=memory))
            core.handle(Wanted(now=0.0, client=client))
    a, b = core._devices.values()
    assert (a.state.head, b.state.head) == (2, 12)
    a.roster.note_out(a.roster.clients[1], 8)
    core._host.judge("a", None)
    core.handle(MemoryChanged(now=1.0, client=12, memory=Memory(12, 0, 12)))
    assert b.state.head is None
    core.handle(ClientLeft(now=2.0, client=1))
    assert b.state.head == 12


# Memory that is kept.


def test_pages_are_kept_when_memory_comes_back_and_go_when_it_is_freed() -> None:
    stage = limited(100)
    stage.busy(1, 12)
    stage.busy(2, 12)
    end_turn(stage, 1)
    end_turn(stage, 2)
    assert stage.core._host.room.kept == 8 + 8
    stage.moved(1, Memory(12), in_bytes=8)
    assert stage.core._host.room.kept == 8 + 8
    stage.memory(1, 5)
    assert stage.core._host.room.kept == 5 + 8
    stage.leave(2)
    assert stage.core._host.room.kept == 5


def test_more_than_was_ordered_counts_as_it_is_reported() -> None:
    stage = limited(100)
    stage.busy(1, 12)
    stage.busy(2, 12)
    stage.fire(TimerKind.TURN)
    stage.release(1, wants=True, memory=Memory(12, 0, 10), moved_bytes=10)
    assert stage.device.roster.clients[1].host_pages.most_out == 10
    # The other one may move as much when it gives way.
    assert stage.core._host.room.kept == 10 + 8


def test_who_comes_back_to_a_new_daemon_has_on_the_host_what_it_says() -> None:
    stage = limited(100)
    stage.join(1, 12, swapped=5, turn=3)
    stage.join(2, 12, swapped=5)
    assert [c.host_pages.most_out for c in stage.device.roster.clients.values()] == [5, 0]


def test_what_a_client_says_to_have_pages_counts_if_it_is_more() -> None:
    """Pages are kept block by block: not always the same ones were out."""
    stage = limited(100)
    stage.busy(1, 12)
    stage.busy(2, 12)
    end_turn(stage, 1)
    assert stage.core._host.room.kept == 8 + 8
    stage.moved(1, Memory(12, 0, 8, kept=10))
    assert stage.core._host.room.kept == 10 + 8
    # It may leave again up to that.
    assert stage.device.roster.clients[1].spare == 2
    stage.moved(1, Memory(12, 0, 0, kept=10), in_bytes=8)
    assert stage.core._host.room.kept == 10 + 8


def test_pages_that_a_client_says_to_have_freed_are_gone() -> None:
    stage = limited(100)
    stage.join(1, 12)
    stage.moved(1, Memory(12, kept=10))
    stage.moved(1, Memory(12, 0, 3, untouched=3, kept=7))
    assert stage.core._host.room.kept == 7
    stage.moved(1, Memory(6, kept=1000))
    assert stage.core._host.room.kept == 6


def test_pages_that_a_client_says_to_have_are_charged_already() -> None:
    """Except those of memory on its way, some of which may not be there yet."""
    stage = limited(100)
    stage.join(1, 12)
    for left, room in ((1, 4), (0, 5)):
        stage.moved(1, Memory(12, 0, 8, kept=10), out_bytes=4, left=left)
        look(stage, 5, 1)
        assert stage.core._host.room.left("pod") == room


def test_what_nobody_has_used_yet_has_not_left() -> None:
    """Though it was ordered out, and is away."""
    stage = limited(100)
    stage.busy(1, 12)
    stage.busy(2, 12)
    stage.fire(TimerKind.TURN)
    stage.release(1, wants=True, memory=Memory(12, 0, 12, untouched=12))
    assert stage.device.roster.clients[1].host_pages.most_out == 0


def test_who_comes_back_to_a_new_daemon_brings_its_pages() -> None:
    stage = limited(100)
    for client, turn in ((1, 3), (2, 0)):
        memory = Memory(12, 0, 5, untouched=2, kept=9)
        event = ClientJoined(now=stage.now, client=client, device=GPU, memory=memory, turn=turn)
        stage.core.handle(event)
    assert [c.host_pages.most_out for c in stage.device.roster.clients.values()] == [9, 9]


def test_a_limit_that_is_lowered_too_far_is_reported_once() -> None:
    stage = limited(100)
    stage.join(1, 12, swapped=8, turn=3)
    for expected in ([(ReportKind.OVERCOMMITTED, None)], []):
        assert reports(stage.core.handle(HostMemoryChanged(now=stage.now, limit=3))) == expected
    stage.core.handle(HostMemoryChanged(now=stage.now, limit=None))
    assert not stage.core._host.state.exceeded


def test_all_devices_share_the_host_and_a_snapshot_knows_it() -> None:
    core = Core(check=True)
    core.handle(HostMemoryChanged(now=0.0, limit=30))
    core.handle(HostRoomChanged(now=0.0, pool="p", room=3, limit=4, clients=(0, 1)))
    for number, name in enumerate(("a", "b")):
        core.handle(DeviceAdded(now=0.0, device=name, usable_bytes=16))
        memory = Memory(12, 0, 8)
        core.handle(ClientJoined(now=0.0, client=number, device=name, memory=memory, turn=1))
    for one in (core, Core(from_json(Snapshot, to_json(core.snapshot())), check=True)):
        assert one._host.room.kept == 16
        client = one._devices["b"].roster.clients[1]
        assert one._host.room.left_for(client) == 3
        # Orders from before the snapshot are right for it: a journal is replayed from there.
        assert not any(device.is_stale for device in one._devices.values())


# Requests that are refused.


def test_what_fits_on_the_devices_needs_no_host() -> None:
    stage = limited(0)
    stage.join(1, 8)
    assert stage.memory(1, 16, ticket=1) == [Answer(1, 1)]


def test_who_could_run_later_is_not_refused() -> None:
    stage = limited(0)
    stage.join(1, 12)
    stage.join(2)
    assert verdict(stage.memory(2, 12, ticket=1)) is Verdict.YES
    assert stage.states() == {1: "running", 2: "yielding"}


def test_who_is_giving_way_is_nobody_to_hope_for() -> None:
    stage = limited(0)
    stage.join(1, 8)
    stage.join(2, 8)
    assert verdict(stage.memory(1, 12, ticket=1)) is Verdict.YES
    assert stage.states() == {1: "yielding", 2: "running"}
    # Neither could ever run again beside the other.
    assert verdict(stage.memory(2, 12, ticket=1)) is Verdict.HOST_FULL
    assert granted(stage.release(1, memory=Memory(12, 0, 4), wants=True)) == []
    assert granted(stage.leave(2)) == [1]


def test_nobody_gets_what_the_device_and_the_host_could_not_hold_if_it_were_alone() -> None:
    stage = limited(19, usable=16)
    stage.join(1, 12)
    assert verdict(stage.memory(1, 19, ticket=1)) is Verdict.YES
    report, answer = stage.memory(1, 20, ticket=2)
    assert answer == Answer(1, 2, Verdict.HOST_FULL)
    assert reports([report]) == [(ReportKind.HOST_FULL, 1)]
    assert stage.device.roster.clients[1].memory == Memory(19)


def test_a_cgroup_counts_for_that_as_well() -> None:
    stage = Stage(16)
    look(stage, 9, 1)
    stage.join(1, 8)
    assert verdict(stage.memory(1, 16, ticket=1)) is Verdict.YES
    assert verdict(stage.memory(1, 17, ticket=2)) is Verdict.HOST_FULL


def test_who_would_bring_everything_to_a_standstill_is_refused() -> None:
    stage = Stage(15)
    look(stage, 0, 1, 2)
    stage.busy(1, 6)
    stage.busy(2, 6)
    assert told(stage.memory(1, 10, ticket=1)) == [1]
    stage.release(1, wants=True, memory=Memory(10, 0, 4))
    # It would wait for the first one, which waits for it.
    assert verdict(stage.memory(2, 10, ticket=1)) is Verdict.HOST_FULL
    assert stage.states() == {1: "waiting", 2: "running"}


def test_the_report_says_how_much_and_why() -> None:
    stage = limited(4 * GIB, usable=16 * GIB)
    stage.join(1, 12 * GIB)
    report, _ = stage.memory(1, 17 * GIB, ticket=7)
    assert isinstance(report, Report)
    assert report.text == (
        "was refused 5.0 GiB: 17.0 GiB would be more than the GPU and the host hold: host_memory "
        "allows 4.0 GiB, and 0.0 GiB are taken; end programs, or raise host_memory"
    )


def test_refusals_in_a_row_are_reported_once() -> None:
    stage = limited(4)
    stage.join(1, 12)
    assert [len(reports(stage.memory(1, 17, ticket=n))) for n in range(1, 4)] == [1, 0, 0]
    assert verdict(stage.memory(1, 11, ticket=4)) is Verdict.YES
    assert len(reports(stage.memory(1, 17, ticket=5))) == 1


def test_who_asks_for_less_is_never_refused() -> None:
    stage = limited(4)
    stage.join(1, 20)
    assert verdict(stage.memory(1, 19, ticket=7)) is Verdict.YES


def test_pinned_memory_pushes_the_rest_out_at_once() -> None:
    stage = limited(4)
    stage.join(1, 12)
    stage.join_native(2, 4)
    assert verdict(stage.memory(2, 9, ticket=1)) is Verdict.HOST_FULL
    assert verdict(stage.memory(2, 8, ticket=2)) is Verdict.YES


def test_without_scheduling_nobody_waits_and_what_does_not_fit_is_refused() -> None:
    stage = limited(4, mode=Mode.OFF)
    stage.join(1, 12)
    stage.join(2, 8)
    assert verdict(stage.memory(2, 9, ticket=1)) is Verdict.HOST_FULL
    stage.core.handle(HostMemoryChanged(now=stage.now, limit=None))
    look(stage, 0, 2)
    assert verdict(stage.memory(2, 9, ticket=2)) is Verdict.YES
    look(stage, 0, 1, 2)
    assert verdict(stage.memory(2, 10, ticket=3)) is Verdict.HOST_FULL


def test_a_kind_that_cannot_be_swapped_needs_no_host_itself() -> None:
    stage = limited(0)
    stage.join(1, 20, kind=Kind.NATIVE)
    assert stage.core._host.room.kept == 0
    ask = MemoryChanged(now=stage.now, client=1, memory=Memory(21), ticket=1)
    assert verdict(stage.core.handle(ask)) is Verdict.YES


def test_the_device_is_named_for_what_concerns_a_program() -> None:
    stage = Stage(149 * GIB)
    look(stage, 20 * GIB, 1)
    stage.busy(1, 112 * GIB)
    waits, stays = [e for e in stage.busy(2, 112 * GIB) if isinstance(e, Report)]
    assert waits.device == stays.device == GPU
    assert waits.text == (
        "has to wait: beside its 112.0 GiB there is no room for 92.0 GiB of other programs that "
        "cannot leave the GPU; it goes on when they end or free memory"
    )
    assert stays.text == (
        "92.0 GiB of its memory cannot leave the GPU, and other programs wait for that: its "
        "memory cgroup's limit of 0.0 GiB has 20.0 GiB left; raise that limit"
    )
