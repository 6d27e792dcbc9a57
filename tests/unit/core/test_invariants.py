"""Each invariant is broken by hand, to see that this is noticed."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from nvshare.core.clients.roster import Roster
from nvshare.core.events import HostRoomChanged, TimerKind
from nvshare.core.invariants import BrokenInvariant
from nvshare.core.lease import State, Step
from nvshare.core.memory import Load, Memory
from nvshare.core.record.device import RegimeName
from nvshare.core.regimes import find_regime

from .stage import Stage


@pytest.fixture
def stage() -> Stage:
    """Have 1 and 2 run with 8 bytes each, 3 and 4 wait with 8, and 5 be idle."""
    stage = Stage()
    for client in (1, 2):
        stage.join(client, 8)
    for client in (3, 4):
        stage.busy(client, 8)
    stage.join(5, 8, swapped=8)
    return stage


def move(stage: Stage, client: int, *steps: Step) -> None:
    for step in steps:
        stage.device.roster.move(stage.device.roster.clients[client], step, stage.now)


def misplace(stage: Stage) -> None:
    stage.device.roster.clients[5].state = State.WAITING


def forget_the_asked(stage: Stage) -> None:
    stage.device.roster.soft_revoked.clear()


def forget_the_parked(stage: Stage) -> None:
    stage.device.roster.clients[5].memory = Memory(8)


def drift(stage: Stage) -> None:
    stage.device.roster.running_load = Load(15, 2)


def weigh_wrong(stage: Stage) -> None:
    stage.device.roster.clients[5].weight = 5


def jump_the_queue(stage: Stage) -> None:
    stage.device.roster.clients[3].precedence.rank += 5


def invent_a_turn(stage: Stage) -> None:
    stage.device.roster.clients[1].turn.number = 99


def promise_a_turn(stage: Stage) -> None:
    stage.device.roster.clients[1].turn.next = 1


def let_too_many_in(stage: Stage) -> None:
    move(stage, 5, Step.GRANT)


def fit_but_stay_closed(stage: Stage) -> None:
    stage.device.state.usable_bytes = 100


def lose_the_head(stage: Stage) -> None:
    stage.device.state.head = None


def keep_the_head_waiting(stage: Stage) -> None:
    move(stage, 1, Step.RELEASE)


def keep_somebody_light_waiting(stage: Stage) -> None:
    stage.device.roster.set_memory(stage.device.roster.clients[4], Memory())


def stand_idle(stage: Stage) -> None:
    move(stage, 1, Step.RELEASE)
    move(stage, 2, Step.RELEASE)


def ask_for_nobody(stage: Stage) -> None:
    move(stage, 3, Step.LEAVE)
    move(stage, 4, Step.LEAVE)


def stop_the_clock(stage: Stage) -> None:
    del stage.device.state.alarms[TimerKind.TURN]


def ask_only_one(stage: Stage) -> None:
    roster: Roster = stage.device.roster
    roster.keep(roster.clients[1], stage.now)


def slice_in_vain(stage: Stage) -> None:
    stage.device.roster.set_regime(find_regime(RegimeName.BUSY))


def lose_track_of_the_host(stage: Stage) -> None:
    stage.core._host.room.kept += 1


def overlook_the_limit(stage: Stage) -> None:
    stage.core._host.state.exceeded = True


def limit_everybody(stage: Stage) -> None:
    clients = tuple(stage.device.roster.clients)
    stage.core.handle(HostRoomChanged(now=stage.now, pool="pod", room=2, clients=clients))


def lose_track_of_a_cgroup(stage: Stage) -> None:
    limit_everybody(stage)
    stage.core._host.state.pools["pod"].charged[1] = -1


def grow_beside_what_cannot_leave(stage: Stage) -> None:
    limit_everybody(stage)
    roster = stage.device.roster
    move(stage, 2, Step.RELEASE)
    roster.set_memory(roster.clients[1], Memory(12))


def push_others_out(stage: Stage) -> None:
    limit_everybody(stage)
    stage.device.state.head = 3


def wait_for_ever(stage: Stage) -> None:
    move(stage, 1, Step.REVOKE)


@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        (misplace, "clients that are waiting is wrong"),
        (forget_the_asked, "clients that were asked to give way is wrong"),
        (forget_the_parked, "memory behind a closed gate is wrong"),
        (drift, "running_load is"),
        (weigh_wrong, "the wrong weight"),
        (jump_the_queue, "out of order"),
        (invent_a_turn, "never numbered"),
        (promise_a_turn, "does not wait, and is to be handed a turn"),
        (let_too_many_in, "do not fit together"),
        (fit_but_stay_closed, "a client's gate is closed"),
        (fit_but_stay_closed, "a client was asked to give way"),
        (lose_the_head, "head is not a client that waits"),
        (keep_the_head_waiting, "head fits and is kept waiting"),
        (keep_somebody_light_waiting, "in no other client's way"),
        (stand_idle, "the device is idle"),
        (ask_for_nobody, "no client waits, but"),
        (stop_the_clock, "timer of the turn is wrong"),
        (ask_only_one, "was not asked to give way"),
        (slice_in_vain, "by the wrong regime"),
        (lose_track_of_the_host, "not what the clients take"),
        (lose_track_of_a_cgroup, "left in pod is wrong"),
        (grow_beside_what_cannot_leave, "has grown beside memory that cannot leave"),
        (push_others_out, "head is not a client that waits and could run"),
        (overlook_the_limit, "the flag that the limit is exceeded is wrong"),
        (wait_for_ever, "timer of patience is wrong"),
    ],
)
def test_what_is_broken_is_noticed(
    stage: Stage, harm: Callable[[Stage], None], problem: str
) -> None:
    stage.core.validate()
    harm(stage)
    with pytest.raises(BrokenInvariant, match=problem):
        stage.core.validate()


def test_what_is_broken_comes_with_the_journal(stage: Stage) -> None:
    drift(stage)
    with pytest.raises(BrokenInvariant, match="ClientJoined"):
        stage.core.validate()


def test_while_programs_reconnect_nobody_has_to_run() -> None:
    stage = Stage(reconnect_seconds=1.0)
    stage.busy(1, 8)
    stage.core.validate()
    stage.device.state.settings = replace(stage.settings, turn_seconds=1.0)
    stage.core.validate()
