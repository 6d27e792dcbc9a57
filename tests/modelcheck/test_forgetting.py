"""Forgetting makes no difference: a world that forgets nothing goes the same way."""

from random import Random

import pytest

from nvshare.core.events import ClientJoined, Event, Reason, Released, Wanted
from nvshare.core.gangs import step as step_module
from nvshare.core.lease import State
from nvshare.core.memory import Memory
from nvshare.core.turns import revoke

from .case import Case
from .daemon import GPUS, Daemon, forget_daemons, new_daemon
from .forget import COSTLY, HALF_LIFE, NOW, RECONNECT_SECONDS, SETTINGS
from .journal import Recording, with_recording
from .keys import tidy
from .messages import Message, anonymous
from .properties import check_step
from .world import Kind, Step, World

STEPS = 150
CASES = {
    "all orders": Case((1, 2), 0, any_order=True, unread=100),
    "faults": Case((1, 1, 2), 20, lates=20, unread=100),
    "rests": Case((1, 2, 2, 2), 0, unread=100),
    "gangs": Case((2, 2, 2, 2), 20, lates=20, unread=100, gangs="aabb", is_restless=True),
    "explicit": Case((2, 2), 20, lates=20, unread=100, is_explicit=True),
    "costs": Case((1, 2, 2), 20, lates=20, unread=100, settings=COSTLY),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_forgotten_makes_no_difference(
    name: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Ranks that hold are patient for so short that a few such times are no second.
    monkeypatch.setattr(revoke, "ROOM_PATIENCE", 2.0**-6)
    monkeypatch.setattr(step_module, "LONGEST_PATIENCE", 2.0**-6)
    forget_daemons()
    case, chance = CASES[name], Random(seed)
    forgetful, exact = case.begin(), with_recording(case.begin(), Recording(case, 0.0))
    for _ in range(STEPS):
        steps = case.steps(forgetful)
        assert steps == case.steps(exact)
        step = _any_of(steps, chance)
        forgetful = tidy(check_step(case, forgetful, step, case.follow(forgetful, step)))
        exact = check_step(case, exact, step, case.follow(exact, step))
        if step.kind is Kind.RESTART:
            exact = with_recording(exact, Recording(case, RECONNECT_SECONDS))
        assert _seen(forgetful) == _seen(exact)


def test_who_has_used_the_device_earlier_comes_first() -> None:
    """Two have rested for different times, and come back while a third runs."""
    memory, later = Memory(allocated=2, swapped=2), NOW + 1
    daemon = new_daemon(2, SETTINGS, 0.0)
    for name in (1, 2, 3):
        daemon = _after(daemon, ClientJoined(now=NOW, client=name, device=GPUS[0], memory=memory))
    for name in (1, 2):
        daemon = _after(daemon, Wanted(now=later, client=name))
        turn = daemon.clients[name].turn.number
        end = Released(now=later, client=name, turn=turn, reason=Reason.IDLE, memory=memory)
        daemon = _after(daemon, end)
    for name in (3, 2, 1):
        daemon = _after(daemon, Wanted(now=later, client=name))
    waiting = [one for one in daemon.clients.values() if one.state is State.WAITING]
    assert [one.id for one in sorted(waiting, key=lambda one: one.place)] == [1, 2]


def _after(daemon: Daemon, event: Event) -> Daemon:
    return daemon.handle(event).daemon


def _any_of(steps: list[Step], chance: Random) -> Step:
    """Choose a step. Faults are always possible, and would be most of them."""
    likely = [one for one in steps if not (one.kind.name.startswith(("KILL", "BREAK")))]
    ticks = [one for one in likely if one.kind is Kind.TICK]
    if ticks and chance.random() < 0.5:
        return ticks[0]
    return chance.choice(steps if chance.random() < 0.1 else likely or steps)


def _seen(world: World) -> list[object]:
    """Return all that is visible from outside, except numbers of turns and descriptors."""
    seen: list[object] = [world.is_spilled, world.daemon and world.daemon.alarms]
    for place in world.places:
        orders, events = [_kind(one) for one in place.inbox], [_kind(one) for one in place.outbox]
        client = world.daemon.clients.get(place.id) if world.daemon else None
        process = place.process and (place.process.state, place.process.body.memory)
        known = client and (
            client.state,
            client.turn.soft_revoked,
            client.turn.overdue,
            client.memory,
        )
        seen += [orders, events, process, known, place.id]
    return [*seen, *_uses(world)]


def _uses(world: World) -> list[object]:
    """Return what each client has used, the queue, and the order of visitors to come."""
    if world.daemon is None:
        return []
    clients = world.daemon.clients
    homes = {place.id: world.daemon.devices[place.gpu] for place in world.places}
    uses = {
        name: homes[name].use_clock.read(one.precedence.use, HALF_LIFE, 1.0)
        for name, one in clients.items()
        if name in homes
    }
    waiting = [one for one in clients.values() if one.state is State.WAITING]
    gpus = {place.id: place.gpu for place in world.places}
    # Gangs are in the same order on all devices.
    waiting.sort(key=lambda one: (gpus.get(one.id, -1), one.place))
    queue = [(one.id, one.precedence.bursts) for one in waiting]
    idle = (one for one in clients.values() if one.state is State.IDLE)
    ranks = {one.id: one.precedence.use.rank(HALF_LIFE) for one in idle}
    ranks |= {one.id: one.precedence.rank for one in waiting if one.precedence.bursts}
    order = sorted({round(rank, 9) for rank in ranks.values()})
    places = {name: order.index(round(rank, 9)) for name, rank in ranks.items()}
    return [queue, {name: round(use, 12) for name, use in uses.items()}, places]


def _kind(message: Message) -> str:
    """Return a message without numbers."""
    fields = str(anonymous(message)).split(", ")
    return ", ".join(one for one in fields if "turn=" not in one and "descriptor" not in one)
