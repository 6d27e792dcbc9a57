"""An event costs about the same however many clients there are. Lines are counted, not seconds."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from nvshare.core.core import Core
from nvshare.core.effects import Effect, Revoke
from nvshare.core.events import (
    ClientJoined,
    DeviceAdded,
    MemoryChanged,
    Reason,
    Released,
    Timer,
    TimerFired,
    TimerKind,
    Wanted,
)
from nvshare.core.memory import Memory
from nvshare.core.settings import Mode, Settings

FEW, MANY = 100, 1000


def lines_of(action: Callable[[], object]) -> int:
    """Return the number of Python lines that an action runs."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


def crowd(clients: int, mode: Mode, *, usable: int) -> Core:
    """Have that many clients of 1 byte each, all with work to do."""
    core = Core()
    settings = Settings(mode=mode)
    core.handle(DeviceAdded(now=0.0, device="gpu", usable_bytes=usable, settings=settings))
    for client in range(clients):
        memory = Memory(1, 0, 1)
        core.handle(ClientJoined(now=0.0, client=client, device="gpu", memory=memory))
        core.handle(Wanted(now=0.0, client=client))
    return core


def grow(core: Core) -> list[Effect]:
    last = len(core._devices["gpu"].roster.clients) - 1
    return core.handle(MemoryChanged(now=1.0, client=last, memory=Memory(2, 0, 2)))


def hand_over(core: Core) -> list[Effect]:
    (client, *_) = core._devices["gpu"].roster.running.values()
    return core.handle(
        Released(
            now=1.0,
            client=client.id,
            turn=client.turn.number,
            reason=Reason.IDLE,
            memory=client.memory,
            wants=True,
        )
    )


def join(core: Core) -> list[Effect]:
    return core.handle(ClientJoined(now=1.0, client=5000, device="gpu"))


@pytest.mark.parametrize("action", [grow, join, hand_over])
def test_while_everything_fits_nobody_looks_at_the_others(
    action: Callable[[Core], list[Effect]],
) -> None:
    few, many = (crowd(n, Mode.AUTO, usable=5000) for n in (FEW, MANY))
    assert lines_of(lambda: action(many)) <= lines_of(lambda: action(few)) + 20


@pytest.mark.parametrize("action", [grow, join, hand_over])
def test_one_at_a_time_nobody_looks_at_the_others(
    action: Callable[[Core], list[Effect]],
) -> None:
    few, many = (crowd(n, Mode.SERIAL, usable=5000) for n in (FEW, MANY))
    assert lines_of(lambda: action(many)) <= lines_of(lambda: action(few)) + 20


@pytest.mark.parametrize("action", [grow, hand_over])
def test_in_turns_an_event_looks_at_each_waiter_a_few_times_at_most(
    action: Callable[[Core], list[Effect]],
) -> None:
    few, many = (crowd(n, Mode.AUTO, usable=16) for n in (FEW, MANY))
    growth = lines_of(lambda: action(many)) - lines_of(lambda: action(few))
    assert growth <= 5 * (MANY - FEW)


def test_the_end_of_a_turn_looks_at_each_waiter_a_few_times_at_most() -> None:
    def switch(core: Core) -> None:
        effects = core.handle(TimerFired(now=1e4, timer=Timer("gpu", TimerKind.TURN)))
        assert sum(isinstance(effect, Revoke) for effect in effects) == 16

    few, many = (crowd(n, Mode.AUTO, usable=16) for n in (FEW, MANY))
    assert lines_of(lambda: switch(many)) - lines_of(lambda: switch(few)) <= 6 * (MANY - FEW)
