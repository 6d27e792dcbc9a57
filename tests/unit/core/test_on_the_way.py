"""Memory that was ordered out and has not left: it is still on the device, and due on the host."""

from nvshare.core.effects import ReportKind
from nvshare.core.events import HostMemoryChanged, MemoryChanged
from nvshare.core.memory import Memory
from nvshare.core.settings import Mode

from .host.test_host import limited, look, ordered, reports
from .stage import Stage, granted, told


def leaving() -> Stage:
    """Return a stage where 1 runs with 12 bytes, and 2 moves out 4 of its 8 for that."""
    stage = limited(100)
    look(stage, 10, 2)
    stage.join(1, 12)
    assert ordered(stage.join(2, 8)) == {2: 4}
    return stage


def test_who_frees_memory_while_it_leaves_still_moves_what_it_was_told_to() -> None:
    stage = leaving()
    # Memory that was ordered out counts as swapped from when its move begins.
    assert ordered(stage.memory(2, 7, swapped=4)) == {}
    client = stage.device.roster.clients[2]
    assert (client.moving.outbound, client.booked) == (4, 4)
    assert stage.core._host.room.left("pod") == 10 - 4


def test_what_is_allocated_behind_the_gate_before_an_order_was_read_changes_nothing() -> None:
    stage = leaving()
    stage.memory(2, 10, swapped=2)
    client = stage.device.roster.clients[2]
    assert client.booked == 4
    stage.moved(2, Memory(10, 0, 6), out_bytes=1, left=3)
    assert (client.moving.outbound, client.booked, client.host_pages.surely_out) == (3, 4, 1)


def test_who_asks_for_memory_has_not_begun_to_move_any_out() -> None:
    stage = leaving()
    memory = Memory(10, 0, 2, untouched=2)
    stage.core.handle(MemoryChanged(now=stage.now, client=2, memory=memory, ticket=1))
    client = stage.device.roster.clients[2]
    assert (client.moving.evicting, client.moving.outbound, client.booked) == (4, 0, 4)


def test_pages_are_not_those_of_memory_that_nobody_has_used() -> None:
    stage = leaving()
    stage.moved(2, Memory(8, 0, 4, kept=4), out_bytes=4)
    stage.leave(1)
    stage.moved(2, Memory(8, kept=4), in_bytes=4)
    stage.release(2, memory=Memory(14, 0, 6, untouched=6, kept=4))
    client = stage.device.roster.clients[2]
    # All its used memory is on the device, and 4 bytes of it can leave at no cost.
    assert (client.hosted, client.spare) == (0, 4)


def test_an_order_that_crosses_a_report_on_an_earlier_one_is_not_repeated() -> None:
    stage = leaving()
    stage.moved(2, Memory(8, 0, 4), out_bytes=1, left=3)
    assert ordered(stage.memory(1, 14)) == {2: 2}
    for left in (1, 0):
        assert ordered(stage.moved(2, Memory(8, 0, 4), out_bytes=1, left=left)) == {}
    client = stage.device.roster.clients[2]
    assert (client.moving.evicting, client.booked) == (2, 6)
    # It has read the order.
    assert ordered(stage.moved(2, Memory(8, 0, 6), out_bytes=1, left=1)) == {}
    assert (client.moving.evicting, client.moving.outbound) == (0, 1)


def test_an_order_that_is_on_its_way_is_counted_once_however_many_reports_it_crosses() -> None:
    stage = leaving()
    stage.moved(2, Memory(8, 0, 4), out_bytes=1, left=3)
    # Behind its gate it has 4 more, which are nowhere yet.
    stage.memory(2, 12, swapped=8)
    assert ordered(stage.memory(1, 14)) == {2: 2}
    for left in (2, 1):
        stage.moved(2, Memory(12, 0, 8), out_bytes=1, left=left)
        assert stage.device.roster.clients[2].booked == 6


def test_who_cannot_follow_an_order_has_answered_it() -> None:
    stage = leaving()
    stage.moved(2, Memory(8, 0, 4), out_bytes=4)
    assert ordered(stage.memory(1, 13)) == {2: 1}
    stage.memory(1, 12)
    stage.moved(2, Memory(8, 0, 4))
    assert stage.device.roster.clients[2].moving.evicting == 0


def test_what_had_not_left_when_its_owner_was_let_run_is_not_charged_yet() -> None:
    stage = leaving()
    stage.moved(2, Memory(8, 0, 4), out_bytes=1, left=3)
    assert granted(stage.leave(1)) == [2]
    look(stage, 9, 2)
    # It may move out 4 at any time, because it has done so before as far as is known.
    assert stage.core._host.room.left("pod") == 9 - 3
    stage.moved(2, Memory(8, 0, 2), out_bytes=1)
    look(stage, 8, 2)
    assert stage.core._host.room.left("pod") == 8 - 2


def test_it_is_told_once_whose_memory_cannot_leave_while_others_wait_for_it() -> None:
    stage = limited(0)
    stage.busy(1, 12)
    assert reports(stage.busy(2, 12)) == [(ReportKind.HELD_UP, 2), (ReportKind.STUCK, 1)]
    # A third waits for it as well, and it gets another turn meanwhile.
    assert reports(stage.busy(3, 12)) == [(ReportKind.HELD_UP, 3)]
    stage.release(1, memory=Memory(12))
    effects = stage.want(1)
    assert granted(effects) == [1]
    assert reports(effects) == []
    assert reports(stage.busy(4, 12)) == [(ReportKind.HELD_UP, 4)]
    # No client waits for it any more, and then one does again.
    stage.core.handle(HostMemoryChanged(now=stage.now, limit=100))
    effects = stage.core.handle(HostMemoryChanged(now=stage.now, limit=0))
    assert (ReportKind.STUCK, 1) in reports(effects)


def test_who_is_told_to_go_before_it_has_its_memory_in_moves_nothing_until_that_is_known() -> None:
    stage = limited(10)
    stage.join(1, 12)
    assert ordered(stage.join(2, 12)) == {2: 8}
    stage.moved(2, Memory(12, 0, 8), out_bytes=8)
    # No client takes turns for a moment.
    assert granted(stage.change(mode=Mode.CONCURRENT)) == [2]
    effects = stage.change(mode=Mode.AUTO)
    assert told(effects) == [2]
    assert ordered(effects) == {}
    # It had not begun: 8 bytes of its memory are still on the host, and make room enough.
    assert ordered(stage.release(2, memory=Memory(12, 0, 8))) == {}
    assert stage.core._host.room.kept == 8


def test_who_is_told_to_go_when_its_memory_is_half_in_moves_it_out_again() -> None:
    stage = limited(10)
    stage.join(1, 12)
    stage.join(2, 12)
    stage.moved(2, Memory(12, 0, 8), out_bytes=8)
    stage.change(mode=Mode.CONCURRENT)
    stage.change(mode=Mode.AUTO)
    assert ordered(stage.release(2, memory=Memory(12, 0, 3))) == {2: 5}
