"""Credit: seconds of the device that a client has left to others, which give it a claim.

A client earns while it rests: its gate is closed and it has nothing to run. It earns an equal part
of that time: with n clients, 1/n of it. It spends while it holds a turn that another client waits
for. So a client that computes in bursts has credit when it comes back. A client that computes all
the time has none, and takes ordinary turns. A new client has had nothing yet, and may have a few
seconds.

Over time no client gets more than its part in this way: for each second that it takes by credit, it
has rested for n seconds. It neither saves nor owes more than a turn.

Where clients run to their end, one that rests must not have to wait for that end. Its claim holds
as soon as it would have enough credit if it still rested. Then it has the device for a usual turn:
a client that does not rest within that time is one that computes all the time.
"""

from math import inf

from nvshare.core.client import Client
from nvshare.core.lease import State
from nvshare.core.moves import swap_seconds
from nvshare.core.roster import Roster
from nvshare.core.settings import Settings
from nvshare.core.state import DeviceState

# As parts of a turn: the credit below which a client has no claim, and the credit of a new client.
LEAST = 1 / 30
FIRST = 1 / 6


def earn(client: Client, roster: Roster, settings: Settings, now: float) -> None:
    """Note that a client has rested until now, since it came to its state."""
    _add(client, settings, _part(client, roster) * (now - client.since))


def spend(client: Client, state: DeviceState, now: float) -> None:
    """Note that a client's turn is over."""
    _add(client, state.settings, client.contested_before - state.contested(now))


def _part(client: Client, roster: Roster) -> float:
    """Return the part of the device's time that is a client's own."""
    count = roster.everyone_load.heavy
    if roster.policy.runs_to_end:
        # Others that wait do so for an end, and do not use the device meanwhile.
        waits = client.state is State.WAITING and client.weight > 0
        count += waits - roster.waiting_load.heavy
    return 1 / max(1, count)


def _add(client: Client, settings: Settings, seconds: float) -> None:
    most = settings.turn_min
    client.credit = max(-most, min(most, client.credit + seconds))


def has_claim(client: Client, state: DeviceState, roster: Roster, now: float) -> bool:
    """Whether a client that has rested until now and wants the device may come before its turn."""
    if roster.regime.is_sliced:
        return False
    if roster.policy.runs_to_end and now - client.since >= LEAST * state.settings.turn_min:
        return True
    return client.is_new or client.credit > _least_credit(client, state, roster)


def claim_holds_at(client: Client, state: DeviceState, roster: Roster) -> float:
    """Return when a waiting client with a claim has rested and waited for long enough."""
    if client.is_new or not roster.policy.runs_to_end:
        return client.since
    lacking = _least_credit(client, state, roster) - client.credit
    return client.since + max(0.0, lacking) / _part(client, roster)


def _least_credit(client: Client, state: DeviceState, roster: Roster) -> float:
    """Return the credit that a claim needs: memory has to move for it, and back."""
    return max(LEAST * state.settings.turn_min, claim_cost(state, roster, client))


def claim_cost(state: DeviceState, roster: Roster, head: Client) -> float:
    """Estimate how long memory moves, there and back, if a client comes before its turn."""
    return 2 * swap_seconds(state, roster, head, head.memory.swappable)


def prompt_limit(client: Client, roster: Roster, settings: Settings) -> float | None:
    """Return the limit of the turn that a client is about to have. None: as long as any.

    A client that has interrupted others by its credit has the device for as long as the credit
    lasts: they wait for the rest of their turns. If it had to wait for their ends instead, it has
    it for longer.
    """
    if client.is_brief:
        return settings.turn_min
    if not client.claims or not roster.interrupted:
        return None
    if roster.policy.runs_to_end:
        return settings.turn_min
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
