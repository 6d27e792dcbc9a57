"""A gang is granted its turns in one step, when it has room on all its devices."""

from nvshare.core.events import DeviceAdded, TimerKind
from nvshare.core.settings import Limits, Mode, Priority, Settings

from ..stage import granted, told
from .stage import TURN, Stage, holds


def test_a_gang_that_has_room_everywhere_is_granted_as_a_whole() -> None:
    stage = Stage()
    stage.join(20, 12)
    stage.join(21, 12)
    for client in (10, 11):
        stage.join(client, 12, "a")
    assert stage.states(10, 11) == ["idle", "idle"]
    stage.leave(20)
    assert stage.states(10, 11) == ["idle", "idle"]
    effects = stage.leave(21)
    assert granted(effects) == [10, 11]


def test_a_gang_waits_for_the_last_of_its_devices() -> None:
    stage = Stage()
    for client in (20, 21):
        stage.join(client, 12)
        stage.want(client)
    stage.gang(10, 11)
    assert stage.states(10, 11) == ["waiting", "waiting"]
    assert granted(stage.release(20)) == []
    assert stage.states(10, 11) == ["waiting", "waiting"]
    assert granted(stage.release(21)) == [10, 11]


def test_a_turn_is_ended_for_a_gang_when_the_turns_of_all_its_devices_are_over() -> None:
    stage = Stage()
    stage.join(20, 12)
    stage.want(20)
    stage.now += 10
    stage.join(21, 12)
    stage.want(21)
    stage.gang(10, 11)
    assert told(stage.fire(0, TimerKind.TURN)) == []
    assert stage.now == 1000 + TURN
    assert sorted(told(stage.fire(1, TimerKind.TURN))) == [20, 21]
    assert stage.now == 1010 + TURN
    assert granted(stage.release(21, wants=True)) == []
    assert granted(stage.release(20, wants=True)) == [10, 11]


def test_a_gang_waits_for_no_turn_to_end_where_it_weighs_nothing() -> None:
    stage = Stage()
    for client in (20, 30, 21):
        stage.join(client, 12)
        stage.want(client)
    # The head of device 0 is 30, and will never be 10.
    stage.join(10, 0, "a")
    stage.join(11, 12, "a")
    stage.want(11)
    assert told(stage.fire(1, TimerKind.TURN)) == [21]
    assert granted(stage.release(21, wants=True)) == [10, 11]


def test_no_gang_comes_to_a_device_that_has_not_opened_itself() -> None:
    stage = Stage(devices=1)
    off = Settings(mode=Mode.OFF)
    added = DeviceAdded(
        now=stage.now, device="gpu1", usable_bytes=16, settings=off, reconnect_seconds=1.0
    )
    stage.core.handle(added)
    stage.join(21, 12, running=True)
    # It will be seen to when the device opens. Until then everything fits there.
    stage.change(1)
    stage.gang(10, 11)
    stage.now += 1
    assert granted(stage.used(10, 0.0)) == []
    assert granted(stage.fire(1, TimerKind.RECONNECT)) == []
    assert granted(stage.leave(21)) == [11]


def test_others_use_the_room_of_a_gang_while_it_waits_for_another_device() -> None:
    stage = Stage()
    for client in (20, 21):
        stage.join(client, 12)
        stage.want(client)
    stage.gang(10, 11)
    stage.now += 1
    for client in (30, 40):
        stage.join(client, 12)
        stage.want(client)
    assert granted(stage.release(20)) == [30]
    assert granted(stage.release(30)) == [40]
    # It is revoked as soon as the gang can come.
    effects = stage.release(21)
    assert told(effects) == [40]
    assert granted(stage.release(40, wants=True)) == [10, 11]


def test_a_guest_does_not_make_the_gang_wait_longer() -> None:
    stage = Stage()
    for client in (20, 21):
        stage.join(client, 12)
        stage.want(client)
    stage.gang(10, 11)
    stage.release(20)
    stage.now += 20
    stage.join(30, 12)
    assert granted(stage.want(30)) == [30]
    assert sorted(told(stage.fire(1, TimerKind.TURN))) == [21, 30]
    assert stage.now == 1000 + TURN


def test_two_gangs_take_turns_as_wholes() -> None:
    stage = Stage()
    stage.gang(10, 11)
    stage.gang(20, 21)
    assert stage.states(10, 11, 20, 21) == ["running", "running", "waiting", "waiting"]
    for going, coming in [((10, 11), (20, 21)), ((20, 21), (10, 11)), ((10, 11), (20, 21))]:
        assert sorted(holds(stage.end_turns())) == list(going)
        effects = stage.hand_over(*going)
        assert sorted(granted(effects)) == list(coming)
        assert stage.states(*going) == ["waiting", "waiting"]


def test_nobody_is_handed_a_turn_by_a_gang_or_as_one_of_a_gang() -> None:
    stage = Stage()
    stage.gang(10, 11)
    stage.join(20, 12)
    stage.want(20)
    assert stage.core._devices["gpu0"].state.handover is None
    stage.gang(30, 31)
    stage.leave(10)
    assert stage.core._devices["gpu0"].state.handover is None


def test_who_comes_to_a_gang_that_runs_is_let_in_where_it_fits() -> None:
    stage = Stage(devices=3)
    stage.gang(10, 11)
    for client in (22, 32):
        stage.join(client, 12)
        stage.want(client)
    # Not everything fits there, so it is only let in when it wants a turn.
    assert granted(stage.join(12, 2, "gang 10")) == []
    assert granted(stage.want(12)) == [12]


def test_who_comes_to_a_gang_that_runs_and_has_no_room_makes_all_of_it_wait() -> None:
    stage = Stage(devices=3)
    stage.gang(10, 11)
    stage.join(22, 12)
    stage.want(22)
    stage.join(12, 12, "gang 10")
    assert stage.states(10, 11, 12) == ["running", "running", "idle"]
    assert sorted(holds(stage.want(12))) == [10, 11]
    stage.hand_over(10, 11)
    assert stage.states(10, 11, 12) == ["waiting"] * 3
    assert told(stage.fire(2, TimerKind.TURN)) == [22]
    assert granted(stage.release(22, wants=True)) == [10, 11, 12]


def test_a_gang_may_ride_beside_the_head_where_it_fits() -> None:
    stage = Stage()
    stage.join(20, 12)
    stage.join(30, 12)
    stage.want(20)
    stage.want(30)
    stage.gang(10, 11, size=2)
    assert stage.states(10, 11) == ["running", "running"]


def test_several_of_a_gang_on_one_device_come_together() -> None:
    stage = Stage()
    for client in (20, 21):
        stage.join(client, 12)
        stage.want(client)
    for client, size in ((10, 6), (30, 6), (11, 12)):
        stage.join(client, size, "a")
    stage.want(30)
    assert stage.states(10, 30, 11) == ["waiting"] * 3
    stage.release(21)
    assert sorted(granted(stage.release(20))) == [10, 11, 30]


def test_where_heads_are_counted_a_gang_is_one_on_each_device() -> None:
    stage = Stage(mode=Mode.SERIAL)
    stage.join(20)
    stage.want(20)
    for client in (10, 30, 11):
        stage.join(client, 0, "a")
    stage.want(11)
    assert stage.states(10, 30, 11) == ["waiting"] * 3
    assert sorted(granted(stage.release(20))) == [10, 11, 30]


def test_a_gang_has_its_turns_until_the_last_of_its_memory_has_been_in_for_a_while() -> None:
    stage = Stage(turn_seconds=0.5, initial_bandwidth=8.0)
    stage.join(10, 2, "gang 10")
    stage.join(11, 12, "gang 10")
    stage.want(10)
    stage.gang(20, 21, size=15)
    # It takes 1.5 s until both can begin.
    assert [stage.alarm(device, TimerKind.TURN) for device in (0, 1)] == [1003.0, 1003.0]
    stage.now += 1
    assert holds(stage.used(10, 1.0)) == []
    assert sorted(holds(stage.end_turns())) == [10, 11]


def test_when_a_turn_ends_depends_on_the_one_who_leads_not_on_others_of_its_gang() -> None:
    stage = Stage(turn_seconds=None, turn_min=1.0, initial_bandwidth=8.0)
    stage.join(91, 12)
    stage.want(91)
    stage.now += 3
    stage.join(90, 12)
    stage.want(90)
    # Priorities differ on device 0, so the end of its turn is computed anew each time.
    stage.join(80, 12, limits=Limits(priority=Priority.HIGH))
    for client, size in [(10, 12), (11, 12), (20, 1)]:
        stage.join(client, size, "gang 10")
    # It is the head on device 0, and there is next to nothing to move for it alone.
    stage.want(20)
    assert stage.core._devices["gpu0"].state.head == 20
    assert holds(stage.fire(0, TimerKind.TURN)) == []
    assert sorted(told(stage.fire(1, TimerKind.TURN))) == [90, 91]


def test_a_guest_that_is_interrupted_does_not_go_first_afterwards() -> None:
    stage = Stage(policy="batch")
    for client in (20, 21):
        stage.join(client, 12)
        stage.want(client)
    stage.gang(10, 11, limits=Limits(priority=Priority.HIGH))
    stage.release(20)
    stage.join(30, 12)
    assert granted(stage.want(30)) == [30]
    stage.now += 1
    assert told(stage.release(21)) == [30]
    # Its turn was only lent to it, and so was not interrupted but is over.
    stage.release(30, wants=True)
    guest = stage.client(30)
    assert (guest.precedence.interrupted, guest.precedence.served_at) == (None, stage.now)
