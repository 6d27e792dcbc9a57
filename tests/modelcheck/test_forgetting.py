"""Forgetting makes no difference: a world that forgets nothing goes the same way."""

from random import Random

import pytest

from .case import Case
from .forget import RECONNECT_SECONDS
from .journal import Recording, with_recording
from .keys import tidy
from .messages import Message, anonymous
from .properties import check_step
from .world import Kind, World

STEPS = 150
CASES = {
    "all orders": Case((1, 2), 0, any_order=True, unread=100),
    "faults": Case((1, 1, 2), 20, lates=20, unread=100),
    "explicit": Case((2, 2), 20, lates=20, unread=100, is_explicit=True),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_forgotten_makes_no_difference(name: str, seed: int) -> None:
    case, chance = CASES[name], Random(seed)
    forgetful, exact = case.begin(), with_recording(case.begin(), Recording(case, 0.0))
    for _ in range(STEPS):
        steps = case.steps(forgetful)
        assert steps == case.steps(exact)
        # Faults are always possible, and would be most of the steps.
        likely = [one for one in steps if not (one.kind.name.startswith(("KILL", "BREAK")))]
        step = chance.choice(steps if chance.random() < 0.1 else likely or steps)
        forgetful = tidy(check_step(case, forgetful, step, case.follow(forgetful, step)))
        exact = check_step(case, exact, step, case.follow(exact, step))
        if step.kind is Kind.RESTART:
            exact = with_recording(exact, Recording(case, RECONNECT_SECONDS))
        assert _seen(forgetful) == _seen(exact)


def _seen(world: World) -> list[object]:
    """Return all that is visible from outside, except numbers of turns and descriptors."""
    seen: list[object] = [world.is_spilled, world.daemon and world.daemon.alarm]
    for place in world.places:
        orders, events = [_kind(one) for one in place.inbox], [_kind(one) for one in place.outbox]
        client = world.daemon.clients.get(place.id) if world.daemon else None
        process = place.process and (place.process.state, place.process.body.memory)
        known = client and (client.state, client.soft_revoked, client.overdue, client.memory)
        seen += [orders, events, process, known, place.id]
    return seen


def _kind(message: Message) -> str:
    """Return a message without numbers."""
    fields = str(anonymous(message)).split(", ")
    return ", ".join(one for one in fields if "turn=" not in one and "descriptor" not in one)
