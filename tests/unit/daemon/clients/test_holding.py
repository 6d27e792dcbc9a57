"""A client's messages about holding become the core's events: in HELLO, and with HELD."""

import pytest

from nvshare.core.effects import Hold, Keep
from nvshare.core.events import CannotDrain, ClientJoined, Event, Held
from nvshare.wire import frames

from ..stage import Stage

TURN = 7


@pytest.mark.parametrize("flags", [frames.HelloFlags.CAN_HOLD, frames.HelloFlags(0)])
def test_the_core_hears_who_can_hold(stage: Stage, flags: frames.HelloFlags) -> None:
    joined = stage.listen(ClientJoined)
    stage.join(1, flags=flags)
    assert [event.can_hold for event in joined] == [bool(flags)]


def told(stage: Stage) -> list[Event]:
    """A list of the events for the core, which gets none of them and has ordered nothing."""
    heard: list[Event] = []
    stage.join(1, flags=frames.HelloFlags.CAN_HOLD)
    stage.node.executor.dispatch = heard.append  # type: ignore[method-assign, assignment]
    return heard


def order(stage: Stage, effect: Hold | Keep) -> None:
    executor = stage.node.executor
    executor._hold(effect) if isinstance(effect, Hold) else executor._keep(effect)


def say(stage: Stage, *said: frames.Held | frames.CannotDrain) -> None:
    for frame in said:
        stage.clients[0].send(frame.pack())
    stage.turn()


@pytest.mark.parametrize("waits", [True, False])
def test_the_core_hears_who_is_held_and_whether_somebody_waits(stage: Stage, waits: bool) -> None:
    heard, client = told(stage), 1
    order(stage, Hold(client, TURN))
    say(stage, frames.Held(TURN, waits, 1))
    (event,) = heard
    assert isinstance(event, Held)
    assert (event.client, event.turn, event.waits) == (client, TURN, waits)


def test_the_core_hears_nothing_that_has_crossed_with_another_order(stage: Stage) -> None:
    undrained = frames.UndrainedReason.TIME
    heard, client = told(stage), 1
    order(stage, Hold(client, TURN))
    order(stage, Keep(client, TURN))
    say(stage, frames.Held(TURN, 1, 1), frames.CannotDrain(TURN, undrained, 1))
    order(stage, Hold(client, TURN))
    say(stage, frames.Held(TURN, 1, 1), frames.CannotDrain(TURN, undrained, 1))
    assert heard == []
    say(stage, frames.CannotDrain(TURN, undrained, 2))
    # An answer to Revoke has no number.
    say(stage, frames.CannotDrain(TURN, undrained))
    assert [type(event) for event in heard] == [CannotDrain, CannotDrain]
