"""Credit: seconds of the device that a client has left to others, which give it a claim.

A client earns while it rests: its gate is closed and it has nothing to run. It earns an equal part
of that time: with n clients, 1/n of it. It spends while it holds a turn that another client waits
for. So a client that computes in bursts has credit when it comes back. A client that computes all
the time has none, and takes ordinary turns. A new client has had nothing yet, and may have a few
seconds.

Over time no client gets more than its part in this way: for each second that it takes by credit, it
has rested for n seconds. It neither saves nor owes more than a turn.
"""

from math import inf

from nvshare.core.client import Client
from nvshare.core.moves import swap_seconds
from nvshare.core.roster import Roster
from nvshare.core.settings import Settings
from nvshare.core.state import DeviceState

# As parts of a turn: the credit below which a client has no claim, and the credit of a new client.
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
    """Whether a client that has rested and wants the device may have it at once.

    Memory has to move for it, and back. Its credit has to exceed the time which that takes.
    """
    if roster.regime.is_sliced:
        return False
    least = max(LEAST * state.settings.turn_min, claim_cost(state, roster, client))
    return client.is_new or client.credit > least


def claim_cost(state: DeviceState, roster: Roster, head: Client) -> float:
    """Estimate how long memory moves, there and back, if a client comes before its turn."""
    return 2 * swap_seconds(state, roster, head, head.memory.swappable)


def prompt_limit(client: Client, roster: Roster, settings: Settings) -> float | None:
    """Return the limit of the turn that a client is about to have. None: as long as any.

    A client that has interrupted others by its credit has the device for as long as the credit
    lasts: they wait for the rest of their turns.
    """
    if not client.claims or not roster.interrupted:
        return None
    return max(client.credit, FIRST * settings.turn_min if client.is_new else 0.0)


def protected_seconds(client: Client, state: DeviceState, roster: Roster, now: float) -> float:
    """Return for how long a claim of another client may not interrupt a client.

    Its own credit protects it. A new client has the whole of its first turn, at the usual length:
    it is not known yet whether it computes in bursts.
    """
    left = client.credit - (state.contested(now) - client.contested_before)
    if client.is_first_turn:
        turn = state.settings.turn_min if roster.policy.runs_to_end else inf
        left = max(left, client.granted_at + turn - now)
    return max(0.0, left)
