"""A client that overstays pays, in virtual time, whatever it does to its connection."""

from collections import defaultdict
from math import inf

import pytest

from nvshare.core.debts import pays
from nvshare.core.effects import Report, Revoke
from nvshare.core.events import TimerKind
from nvshare.core.lease import State
from nvshare.core.settings import Mode

from .stage import Stage

TURN = 10.0
PATIENCE = 30.0


class Liar:
    """Takes its turn, holds it until patience nearly ends, and comes again under another number."""

    def __init__(
        self, stage: Stage, owner: str, *, resumes: bool = False, forks: bool = False
    ) -> None:
        self.stage = stage
        self.owner = owner
        self.forks = forks
        self.resumes = resumes
        self.number = 100
        stage.join(self.number, 12, owner=owner)
        stage.want(self.number)

    @property
    def due(self) -> float:
        """The time at which it leaves."""
        client = self.stage.device.roster.clients[self.number]
        return client.since + PATIENCE - 0.5 if client.state is State.YIELDING else inf

    def act(self) -> None:
        """Leave, and come back."""
        self.stage.leave(self.number)
        self.number += 1
        if self.forks:
            self.owner = f"{self.owner.rpartition('/')[0]}/process {self.number}"
        more = {"running": True, "doubted": True} if self.resumes else {}
        self.stage.join(self.number, 12, owner=self.owner, returns=True, **more)
        self.stage.want(self.number)


def play(stage: Stage, liar: Liar, seconds: float) -> dict[str, float]:
    """Return how long each owner has held the device; the honest ones give way at once."""
    held: dict[str, float] = defaultdict(float)
    end = stage.now + seconds
    while stage.now < end:
        roster = stage.device.roster
        alarms = stage.device.state.alarms
        kind = min(alarms, key=lambda one: alarms[one], default=None)
        at = max(stage.now, min(end, liar.due, alarms[kind] if kind else inf))
        for client in roster.clients.values():
            if client.holds and not client.overdue:
                held[client.owner.partition("/")[0]] += at - stage.now
        stage.now = at
        if at == liar.due:
            liar.act()
        elif kind is not None and at == alarms[kind]:
            stage.fire(kind)
        for number in [n for n, c in roster.yielding.items() if c.owner != liar.owner]:
            stage.release(number, wants=True)
    return held


def crowd(honest: int) -> Stage:
    stage = Stage(mode=Mode.SERIAL, turn_seconds=TURN, revoke_patience=PATIENCE)
    for number in range(1, honest + 1):
        stage.join(number, 12, owner=f"honest {number}")
        stage.want(number)
    return stage


@pytest.mark.parametrize("honest", [1, 2, 4])
@pytest.mark.parametrize("resumes", [False, True])
def test_each_honest_one_keeps_its_part(honest: int, resumes: bool) -> None:
    stage = crowd(honest)
    liar = Liar(stage, "liar", resumes=resumes)
    held = play(stage, liar, 1200.0)
    fair = 1200.0 / (honest + 1)
    for number in range(1, honest + 1):
        assert held[f"honest {number}"] >= 0.8 * fair, held


def test_a_new_process_of_the_same_user_owes_what_the_last_one_did() -> None:
    stage = crowd(2)
    liar = Liar(stage, "user 7/process 100", forks=True)
    held = play(stage, liar, 1200.0)
    for number in (1, 2):
        assert held[f"honest {number}"] >= 0.8 * 400, held


def test_a_user_who_is_alone_pays_for_each_process_by_itself() -> None:
    stage = Stage(mode=Mode.SERIAL, turn_seconds=TURN, revoke_patience=PATIENCE)
    for number in (1, 2, 3):
        stage.join(number, 12, owner=f"user 7/process {number}")
    state, roster = stage.device.state, stage.device.roster
    state.debts["user 7/process 1"] = stage.now + 20
    stage.want(1)
    stage.want(2)
    assert stage.state(1) is State.RUNNING
    stage.want(3)
    assert not pays(state, roster, roster.clients[3], stage.now)
    # Beside other owners, a debt of one process is a debt of all of its owner's.
    stage.join(4, 12, owner="user 8/process 4")
    assert pays(state, roster, roster.clients[3], stage.now)
    assert not pays(state, roster, roster.clients[4], stage.now)


def test_without_debts_the_liar_would_win() -> None:
    stage = crowd(2)
    liar = Liar(stage, "")
    held = play(stage, liar, 1200.0)
    assert held[""] > 0.6 * 1200


def test_who_is_late_once_waits_for_as_long_as_others_have_waited() -> None:
    stage = crowd(1)
    stage.join(2, 12, owner="late")
    stage.want(2)
    stage.fire(TimerKind.TURN)
    stage.release(1, wants=True)
    stage.fire(TimerKind.TURN)
    assert stage.state(2) is State.YIELDING
    stage.now += 11
    stage.release(2, wants=True)
    # The other one runs, and there is no head, until that is paid.
    assert stage.state(1) is State.RUNNING
    assert stage.device.state.head is None
    assert stage.device.state.alarms[TimerKind.DEBT] == pytest.approx(stage.now + 10)
    stage.fire(TimerKind.DEBT)
    assert stage.device.state.head == 2


def test_an_idle_device_is_nobodys_punishment() -> None:
    stage = crowd(1)
    stage.join(2, 12, owner="late")
    stage.want(2)
    stage.fire(TimerKind.TURN)
    stage.release(1, wants=True)
    stage.fire(TimerKind.TURN)
    stage.now += 11
    stage.release(2, wants=True)
    stage.leave(1)
    assert stage.state(2) is State.RUNNING


def test_a_little_late_is_not_late() -> None:
    stage = crowd(1)
    stage.join(2, 12, owner="other")
    stage.want(2)
    stage.fire(TimerKind.TURN)
    stage.now += 0.5
    stage.release(1, wants=True)
    assert stage.device.state.debts == {}


def test_one_that_is_doubted_is_told_to_go_and_nobody_waits_for_it() -> None:
    stage = crowd(1)
    effects = stage.join(2, 12, owner="liar", running=True, turn=7, doubted=True)
    assert [e.turn for e in effects if isinstance(e, Revoke) and e.client == 2] == [7]
    assert any(isinstance(effect, Report) for effect in effects)
    assert stage.state(1) is State.RUNNING
    assert TimerKind.PATIENCE not in stage.device.state.alarms
    # When it has given way, it is treated like any other.
    stage.release(2, wants=True)
    assert stage.state(2) is State.WAITING
