"""All clients of a gang wait at the same place in the queues of their devices."""

from typing import Any

from nvshare.core.events import ClientJoined, LimitsChanged, TimerKind, Wanted
from nvshare.core.settings import Limits, Priority
from nvshare.telemetry.time.client_time import Part
from nvshare.telemetry.time.time_log import TimeLog

from ..stage import granted
from .stage import Stage, holds


def waiting(stage: Stage) -> list[list[int]]:
    devices = stage.core._devices.values()
    return [[client.id for client in device.roster.waiting] for device in devices]


def full(devices: int = 2, **settings: Any) -> Stage:
    """Two devices with one running client each."""
    stage = Stage(devices, **settings)
    for device in range(devices):
        stage.join(90 + device, 12)
        stage.want(90 + device)
    return stage


def test_when_one_waits_all_wait() -> None:
    stage = full()
    for client in (10, 11):
        stage.join(client, 12, "a")
    assert waiting(stage) == [[], []]
    stage.want(11)
    assert waiting(stage) == [[10], [11]]


def test_any_two_gangs_are_in_the_same_order_on_all_devices() -> None:
    stage = full()
    # They come at the same time, in another order on each device.
    for client, group in [(10, "a"), (20, "b"), (21, "b"), (11, "a")]:
        stage.join(client, 12, group)
    stage.want(20)
    stage.want(11)
    first, second = ([client % 100 // 10 for client in queue] for queue in waiting(stage))
    assert first == second


def test_who_was_served_longest_ago_decides_for_all_of_it() -> None:
    stage = full()
    stage.join(10, 12, "a")
    stage.now += 5
    for client in (30, 31):
        stage.join(client, 12)
        stage.want(client)
    stage.now += 5
    stage.join(11, 12, "a")
    stage.want(10)
    assert waiting(stage) == [[10, 30], [11, 31]]


def change_priority(stage: Stage, client: int, priority: Priority) -> None:
    limits = Limits(priority=priority)
    stage.core.handle(LimitsChanged(now=stage.now, client=client, limits=limits))


def waiting_behind_a_gang() -> Stage:
    """Gang 10, 11 waits, and 30 and 31, which came later, wait behind it."""
    stage = full()
    stage.gang(10, 11)
    stage.now += 1
    for client in (30, 31):
        stage.join(client, 12)
        stage.want(client)
    return stage


def test_a_gang_has_the_place_of_the_one_with_the_highest_priority() -> None:
    stage = waiting_behind_a_gang()
    change_priority(stage, 30, Priority.HIGH)
    assert waiting(stage) == [[30, 10], [11, 31]]
    change_priority(stage, 11, Priority.HIGH)
    assert waiting(stage) == [[10, 30], [11, 31]]


def test_a_gang_whose_priority_is_lowered_while_it_waits_goes_later() -> None:
    stage = waiting_behind_a_gang()
    change_priority(stage, 10, Priority.LOW)
    change_priority(stage, 11, Priority.LOW)
    assert waiting(stage) == [[30, 10], [31, 11]]


def test_a_gang_pays_a_visit_if_all_of_it_do() -> None:
    stage = full()
    for client in (10, 11):
        stage.join(client, 12, "gang 10", is_new=True)
    stage.want(10)
    assert [stage.client(one).precedence.visits for one in (10, 11)] == [True, True]


def test_a_gang_of_which_only_one_has_rested_waits_like_those_who_compute_all_the_time() -> None:
    stage = full()
    stage.join(30, 12)
    stage.want(30)
    stage.now += 10
    stage.join(10, 12, "gang 10", is_new=True)
    stage.join(11, 12, "gang 10")
    stage.want(10)
    assert [stage.client(one).precedence.visits for one in (10, 11)] == [False, False]
    assert waiting(stage) == [[30, 10], [11]]


def test_a_gang_of_which_one_is_parked_leads_nobody() -> None:
    stage = full()
    stage.gang(10, 11)
    stage.join(30, 12)
    stage.want(30)
    stage.park(11)
    assert stage.client(10).gang.stalled
    stage.fire(0, TimerKind.TURN)
    assert granted(stage.release(90, wants=True)) == [30]
    stage.park(11, False)
    assert not stage.client(10).gang.stalled


def test_gangs_of_different_priorities_end_each_others_turns_as_wholes() -> None:
    stage = Stage(turn_min=1.0, turn_seconds=1.0)
    stage.gang(10, 11)
    stage.now += 2
    stage.gang(20, 21, limits=Limits(priority=Priority.HIGH))
    assert stage.states(10, 11) == ["yielding", "yielding"]
    assert sorted(granted(stage.hand_over(10, 11))) == [20, 21]
    assert holds(stage.want(10)) == []


def test_time_that_one_waits_because_of_its_gang_counts_as_waiting() -> None:
    stage = full()
    times = TimeLog(stage.core)
    for client in (10, 11):
        times.hear(ClientJoined(now=stage.now, client=client, device=f"gpu{client % 10}"), [])
        stage.join(client, 12, "a")
    times.hear(Wanted(now=stage.now, client=11), stage.want(11))
    stage.now += 3
    assert times.spent(10, stage.now)[Part.WAITING] == 3_000_000_000
