"""Who may have the device at once: seconds of it that a client has left to others by its own will.

A client earns while it rests: its gate is closed and it has nothing to run. It earns its part of
that time, which is one of as many parts as there are clients. It spends while it holds a turn that
somebody else waits for. So one that computes in bursts has credit when it comes back, and one that
computes all the time has none, and takes the turns that everybody gets. One that has just come has
had nothing yet, and may have a few seconds.

Over time nobody gets more than its part in this way: for each second that it takes by its credit,
it has rested for as many as there are clients. It neither saves up nor owes more than a turn.
"""

from math import inf

from nvshare.core.client import Client
from nvshare.core.moves import swap_seconds
from nvshare.core.roster import Roster
from nvshare.core.settings import Settings
from nvshare.core.state import DeviceState

# Parts of a turn: who has rested for less than this has not left the device to anybody; and so much
# has somebody at once who has just come.
LEAST = 1 / 30
FIRST = 1 / 6


def earn(client: Client, roster: Roster, settings: Settings, now: float) -> None:
    """Note that a client has rested until now, since it came to its state."""
    part = 1 / max(1, roster.everyone_load.heavy)
    _add(client, settings, part * (now - client.since))


def spend(client: Client, state: DeviceState, now: float) -> None:
    """Note that a client's turn is over."""
    _add(client, state.settings, client.contested_before - state.contested(now))


def _add(client: Client, settings: Settings, seconds: float) -> None:
    most = settings.turn_min
    client.credit = max(-most, min(most, client.credit + seconds))


def has_claim(client: Client, state: DeviceState, roster: Roster) -> bool:
    """Whether a client that has rested, and wants the device, may have it at once.

    Memory has to move for it, and back. It has to have rested for more than that comes to.
    """
    if roster.regime.is_sliced:
        return False
    least = max(LEAST * state.settings.turn_min, claim_cost(state, roster, client))
    return client.is_new or client.credit > least


def claim_cost(state: DeviceState, roster: Roster, head: Client) -> float:
    """Estimate for how long memory moves if a client comes before its turn: there, and back."""
    return 2 * swap_seconds(state, roster, head, head.memory.swappable)


def prompt_limit(client: Client, roster: Roster, settings: Settings) -> float | None:
    """Return how long the turn may be that a client is about to have. None: as long as any.

    Who has interrupted others by its credit has it for as long as the credit lasts: they wait for
    the rest of their turns.
    """
    if not client.claims or not roster.interrupted:
        return None
    return max(client.credit, FIRST * settings.turn_min if client.is_new else 0.0)


def protected_seconds(client: Client, state: DeviceState, roster: Roster, now: float) -> float:
    """Return for how long nobody with a claim may interrupt a client.

    Its own credit protects it. Who has just come has the whole of its first turn, as turns usually
    are: it is not known yet whether it computes in bursts.
    """
    left = client.credit - (state.contested(now) - client.contested_before)
    if client.is_first_turn:
        turn = state.settings.turn_min if roster.policy.runs_to_end else inf
        left = max(left, client.granted_at + turn - now)
    return max(0.0, left)
