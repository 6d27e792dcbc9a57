"""The rules that restore what must hold on one device, after every event: the heart of the core.

They are followed in this order for every event, whatever it was. They look at the clients by state
(the roster), open gates as far as memory allows, and ensure that every waiting client gets a turn:

* While everything fits, all clients run, none is asked for anything, and no timer runs.
* Otherwise the first client in the queue that does not fit beside the running ones becomes the head
  of the queue, until it runs. All running clients are asked to give way when idle. When the turn is
  over, a new group is formed around the head: other waiting clients, in their order, and then the
  running clients, the latest first, as long as all fit. Running clients outside the group are told
  to give way.
* A waiting client that fits beside the running ones is let in at once, unless that would take the
  room from the head. That does not lengthen the turn.
* If the running clients do not fit together any more, because one has grown, the latest of them are
  told to give way until the rest fits. This does not wait for the end of a turn.
* A parked client (turns/park.py) does not count: its memory leaves, and memory away takes no room.
* The regime (regimes/) says how much a client weighs, which clients fit together, and how long
  turns and rests are. By default weight is memory. If everything fits, but several clients compute
  all the time, these take slices, and only they have weight.

Memory that the host cannot hold cannot leave the device (clients/host_room.py), yet the driver
would push it out to make room for a running client. So a client that needs its room may not run: it
waits, and does not become the head, until the clients in its way end, shrink, or may leave. If no
client could run then, one may that has all its memory on the device and so pushes nothing out.

A program that was told to give way and does not answer (it is stopped, or in one endless kernel)
must not hold up the device forever. Until ``revoke_patience`` is over it counts with all its
memory, and only clients that fit beside it go on. After that it is reported and not counted any
more: the next group is let in although there may not be room. The driver then pages the silent
program out as the others touch their memory. That is slow at first, but it ends, and a hung device
does not. Its gate stays closed until it has released its turn and been granted another. A program
that answers that it cannot give way has its gate open again (turns/undrained.py).
"""

from collections.abc import Callable
from math import inf
from typing import NamedTuple

from nvshare.core.clients.roster import Roster
from nvshare.core.device.regime import follow_regime
from nvshare.core.effects import CancelTimer, Effect, SetTimer
from nvshare.core.events import Timer, TimerKind
from nvshare.core.host.explain import growth_due, tell_what_cannot_leave
from nvshare.core.host.provide import provide
from nvshare.core.host.safe_order import note_calm
from nvshare.core.moves.room import patience_ends, tell_room
from nvshare.core.shares.shares import forget_the_late, next_check, tell_shares
from nvshare.core.turns.drain import help_drain, next_help
from nvshare.core.turns.gates import open_gates
from nvshare.core.turns.handover import plan_handover
from nvshare.core.turns.park import ask_to_rest, next_look, park_memory
from nvshare.core.turns.revoke import go_on_without_the_silent, next_step, patience_due
from nvshare.core.turns.split import forget_growth
from nvshare.core.turns.switch import turn_due
from nvshare.core.turns.undrained import next_try, try_again


class Rule(NamedTuple):
    """What is done after every event; and, if time alone makes it due, when that is next."""

    follow: Callable[[Roster, float], list[Effect] | None]
    timer: TimerKind | None = None
    due: Callable[[Roster, float], float] | None = None


RULES = (
    Rule(note_calm, TimerKind.GROWTH, lambda roster, _: growth_due(roster)),
    Rule(forget_the_late, TimerKind.SHARE, lambda roster, _: next_check(roster)),
    Rule(lambda roster, _: forget_growth(roster)),
    Rule(try_again, TimerKind.UNDRAINED, lambda roster, _: next_try(roster)),
    Rule(park_memory, TimerKind.PARK, next_look),
    Rule(follow_regime),
    Rule(go_on_without_the_silent, TimerKind.PATIENCE, lambda roster, _: patience_due(roster)),
    Rule(open_gates, TimerKind.TURN, turn_due),
    Rule(help_drain, TimerKind.DRAIN, lambda roster, _: next_help(roster)),
    Rule(ask_to_rest),
    Rule(lambda roster, _: plan_handover(roster)),
    Rule(lambda roster, _: provide(roster)),
    Rule(tell_room, TimerKind.ROOM, lambda roster, _: patience_ends(roster.state)),
    Rule(lambda roster, _: tell_what_cannot_leave(roster)),
    # The gangs follow this one, on all devices at once (gangs/step.py).
    Rule(lambda *_: None, TimerKind.STEP, lambda roster, _: next_step(roster)),
)
# Timers are set in this order, which journals show.
_TIMERS = (
    *(TimerKind.SHARE, TimerKind.PATIENCE, TimerKind.TURN, TimerKind.STEP, TimerKind.DRAIN),
    *(TimerKind.ROOM, TimerKind.GROWTH, TimerKind.UNDRAINED, TimerKind.PARK),
)
_DUE = {rule.timer: rule.due for rule in RULES if rule.timer and rule.due}


def restore(roster: Roster, now: float) -> list[Effect]:
    """Restore what must hold, and return the orders for that.

    While the clients of an earlier daemon may still come back, nothing is decided.
    """
    effects: list[Effect] = []
    if now >= roster.state.reconnect_until:
        for rule in RULES:
            effects += rule.follow(roster, now) or ()
    # A client must know its limits before it runs.
    return [*tell_shares(roster), *effects, *set_alarms(roster, now)]


def set_alarms(roster: Roster, now: float) -> list[Effect]:
    """Have exactly the needed timers run."""
    state, wanted = roster.state, _alarms(roster, now)
    effects: list[Effect] = [
        CancelTimer(Timer(state.id, kind)) for kind in state.alarms if kind not in wanted
    ]
    for kind, at in wanted.items():
        if state.alarms.get(kind) != at:
            effects.append(SetTimer(Timer(state.id, kind), at))
    state.alarms = wanted
    return effects


def _alarms(roster: Roster, now: float) -> dict[TimerKind, float]:
    if now < roster.state.reconnect_until:
        return {TimerKind.RECONNECT: roster.state.reconnect_until}
    due = ((kind, _DUE[kind](roster, now)) for kind in _TIMERS)
    return {kind: at for kind, at in due if at < inf}
