"""The core as others see it: true at the time, with nothing that changes afterwards."""

from typing import Any

import pytest

from nvshare.core.events import HostMemoryChanged, HostRoomChanged, LimitsChanged, ParkChanged
from nvshare.core.lease import State
from nvshare.core.memory import Kind, Memory
from nvshare.core.record.client import Park
from nvshare.core.settings import Limits, Mode

from .stage import GPU, Stage


@pytest.fixture
def stage() -> Stage:
    """One client runs, one waits, one would but is parked by hand; each runs alone."""
    stage = Stage(mode=Mode.SERIAL)
    stage.busy(1, 8)
    stage.busy(2, 6)
    stage.join(3, 4, pinned=1)
    stage.core.handle(ParkChanged(now=stage.now, client=3, parked=True))
    stage.want(3)
    return stage


def test_a_device_is_shown_with_who_is_where(stage: Stage) -> None:
    view = stage.core.view(GPU)
    assert (view.clients, view.running, view.waiting, view.parked) == (3, 1, 1, 1)
    assert (view.usable, view.allocated, view.bandwidth) == (16, 18, 1e15)


def test_a_turn_is_shown_while_somebody_runs_and_its_end_while_somebody_waits(
    stage: Stage,
) -> None:
    began = stage.now
    view = stage.core.view(GPU)
    assert (view.turn_began, view.turn_ends) == (began, began + 30)
    stage.leave(2)
    view = stage.core.view(GPU)
    assert (view.turn_began, view.turn_ends) == (began, None)
    stage.leave(1)
    assert stage.core.view(GPU).turn_began is None


def test_changes_of_turn_are_counted(stage: Stage) -> None:
    stage.release(1)
    view = stage.core.view(GPU)
    assert (view.turn_changes, view.slices) == (1, 0)


def test_a_share_is_shown_of_its_client_and_its_device(stage: Stage) -> None:
    assert not stage.core.view(GPU).has_shares
    limits = Limits(compute_percent=30)
    stage.core.handle(LimitsChanged(now=stage.now, client=1, limits=limits))
    one, two = stage.core.client_views([1, 2])
    assert (one.limits, one.has_share, one.share_percent) == (limits, True, 30.0)
    assert (two.has_share, two.share_percent) == (False, None)
    assert stage.core.view(GPU).has_shares


def test_a_client_is_shown_with_its_state_and_its_memory(stage: Stage) -> None:
    stage.now += 1
    parked = stage.core.client_view(3)
    assert (parked.id, parked.device, parked.kind) == (3, GPU, Kind.MANAGED)
    assert (parked.state, parked.since, parked.memory) == (State.WAITING, 1000.0, Memory(4, 1))
    assert (parked.park, parked.parked_at) == (Park.BY_HAND, 1000.0)
    running = stage.core.client_view(1)
    assert (running.state, running.park, running.is_busy) == (State.RUNNING, None, False)


def test_memory_on_its_way_is_shown() -> None:
    stage = Stage(mode=Mode.SERIAL)
    stage.join(1, 12)
    stage.busy(2, 10)
    assert (stage.core.client_view(1).leaving, stage.core.client_view(1).is_moving) == (0, False)
    stage.release(1)
    one, two = stage.core.client_views([1, 2])
    assert (one.leaving, one.is_moving, one.booked, one.kept) == (6, True, 6, 0)
    # It brings its own memory in, and has no room for all of it.
    assert (two.leaving, two.is_moving) == (0, True)
    stage.moved(1, Memory(12, 0, 6), out_bytes=4, left=2)
    assert (stage.core.client_view(1).leaving, stage.core.client_view(1).is_moving) == (0, True)
    stage.moved(1, Memory(12, 0, 6), out_bytes=2)
    one = stage.core.client_view(1)
    assert (one.leaving, one.is_moving) == (0, False)
    assert (one.kept, one.surely_out, one.booked, one.charged) == (6, 6, 6, 6)
    host = stage.core.host_view()
    assert (host.limit, host.kept, host.swapped) == (None, 6, 16)
    stage.moved(1, Memory(12, 0, 6, untouched=2), out_bytes=0)
    assert stage.core.host_view().swapped == 14


def test_who_does_not_give_way_is_shown_as_overdue(stage: Stage) -> None:
    stage.now += 30
    stage.change(turn_seconds=1.0)
    assert not stage.core.client_view(1).is_overdue
    stage.now += 31
    stage.change()
    assert stage.core.client_view(1).is_overdue


def test_what_may_leave_for_the_host_is_shown(stage: Stage) -> None:
    assert stage.core.room_in("pod") is None
    stage.core.handle(HostMemoryChanged(now=stage.now, limit=9))
    stage.core.handle(HostRoomChanged(now=stage.now, pool="pod", room=7, limit=8, clients=(1,)))
    assert stage.core.host_view().limit == 9
    assert stage.core.room_in("pod") == 7


def test_nobody_is_held_up_while_the_host_holds_everything(stage: Stage) -> None:
    outlook = stage.core.outlook(2)
    assert (outlook.stuck, outlook.stuck_because) == (0, "")
    assert (outlook.is_held_up, outlook.held_up_because) == (False, "")


def test_who_waits_for_memory_that_cannot_leave_is_told_why() -> None:
    stage = Stage()
    stage.core.handle(HostMemoryChanged(now=stage.now, limit=0))
    stage.join(1, 10)
    stage.busy(2, 10)
    assert stage.core.outlook(1).stuck == 10
    assert "host_memory" in stage.core.outlook(1).stuck_because
    assert not stage.core.outlook(1).is_held_up
    assert stage.core.outlook(2).is_held_up
    assert "cannot leave" in stage.core.outlook(2).held_up_because
    # A client parked by hand waits for a person.
    stage.core.handle(ParkChanged(now=stage.now, client=2, parked=True))
    assert not stage.core.outlook(2).is_held_up


def test_only_those_are_shown_who_are_there(stage: Stage) -> None:
    assert [view.id for view in stage.core.client_views([2, 7, 1])] == [2, 1]
    for ask in (stage.core.client_view, stage.core.outlook):
        with pytest.raises(ValueError, match="no client 7"):
            ask(7)
    with pytest.raises(ValueError, match="no device"):
        stage.core.view("other")


def test_a_view_stays_as_it_is(stage: Stage) -> None:
    def look() -> list[Any]:
        return [stage.core.view(GPU), stage.core.client_view(1), stage.core.host_view()]

    before, again = look(), look()
    stage.leave(2)
    stage.memory(1, 9, swapped=3)
    assert before == again
    assert all(view != now for view, now in zip(before, look(), strict=True))
    for view in before:
        with pytest.raises(AttributeError):
            setattr(view, (getattr(view, "_fields", None) or view.__slots__)[0], 0)
