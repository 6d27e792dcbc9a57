"""Two weeks of clients that come and go, in virtual time: the core does not grow."""

import gc
import random
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from nvshare.core.core import Core
from nvshare.core.lease import State
from nvshare.core.settings import Mode

from .stage import Stage

DAYS = 14
# The pause between arrivals, and the number of places: some are late each day.
PAUSE = 1800.0
PLACES = 6


def kept(core: Core) -> int:
    """Count all objects that the core keeps, except its journal, whose size is bounded."""
    leave_out = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)
    seen: set[int] = {id(core.journal)}
    todo: list[Any] = [core]
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, leave_out):
            continue
        seen.add(id(one))
        todo += gc.get_referents(one)
    return len(seen)


def pass_time(stage: Stage, seconds: float) -> None:
    """Let time pass, and fire the timers that are due, some of them several times."""
    end, alarms = stage.now + seconds, stage.device.state.alarms
    for _ in range(20):
        kind = min(alarms, key=lambda one: alarms[one], default=None)
        if kind is None or alarms[kind] > end:
            break
        stage.fire(kind, max(stage.now, alarms[kind]))
    stage.now = end


def live_a_day(stage: Stage, chance: random.Random, number: int) -> int:
    """Let clients come, take turns, be late and leave; return the number of the next one."""
    end = stage.now + 86400
    while stage.now < end:
        roster = stage.device.roster
        if len(roster.clients) >= PLACES:
            stage.leave(chance.choice(list(roster.clients)))
        owner = f"user {chance.randrange(3)}/process {number}"
        stage.join(number, chance.choice((1, 6, 12)), owner=owner)
        stage.want(number)
        number += 1
        pass_time(stage, PAUSE + chance.choice((0.0, 0.0, 20.0)))
        for one in [one for one, c in roster.clients.items() if c.state is State.YIELDING]:
            stage.release(one, wants=chance.random() < 0.5)
    for one in list(stage.device.roster.clients):
        stage.leave(one)
    return number


def test_weeks_of_clients_leave_nothing() -> None:
    stage = Stage(mode=Mode.SERIAL, revoke_patience=30.0)
    chance, number = random.Random(1), 1
    counted = []
    for _ in range(DAYS):
        number = live_a_day(stage, chance, number)
        counted.append(kept(stage.core))
    assert number > 600
    # Only the use that was left in the last minutes may differ.
    assert max(counted[1:]) <= counted[0] + 60, counted
