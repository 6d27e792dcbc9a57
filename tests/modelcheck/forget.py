"""A core's memory without the parts that make no difference, so that equal states are equal.

Time is moved so that it is always the same. Ages are kept as far as the core asks for them:

* of a revoked client: since when, up to ``revoke_patience``; of an idle client: whether any time
    has passed (that is credit, which is all or nothing here: see ``SETTINGS``);
* of a turn, when it began, up to its length; ends of turns, timers, patience for room: exactly;
* of the last service of a client: the order, and whether it was just now.

Not kept at all, because nothing in this model depends on them: statistics (turns, seconds held),
when a client last told of work (the search decides how long a rest is), measurements of moves
(they take no time), calm and growth (the host holds everything).
"""

from collections.abc import Iterable
from math import inf

from nvshare.core.client import Client
from nvshare.core.lease import State
from nvshare.core.move_budget import MoveBudget
from nvshare.core.paging import HELP_PATIENCE
from nvshare.core.settings import Settings
from nvshare.core.state import DeviceState, Snapshot

# Times are sums of powers of two, so moving them is exact.
NOW = 16.0

# All times are whole seconds, so that few ages differ. All credit together is less than one of
# them: a client has none, or all of it, or owes all of it.
SETTINGS = Settings(
    turn_seconds=2.0,
    turn_min=2.0**-20,
    turn_max=2.0,
    batch_turn=2.0,
    slice_seconds=0.0,
    revoke_patience=2.0,
    move_patience=1.0,
    initial_bandwidth=1e30,
)
RECONNECT_SECONDS = 1.0


def forget(snapshot: Snapshot, now: float) -> None:
    """Make a snapshot of this time comparable, in place."""
    for device in snapshot.devices:
        state = device.state
        contested = state.contested(now)
        _rank(device.clients, now)
        for client in device.clients:
            _forget_client(client, state, contested, now)
        _forget_device(state, now)


def _forget_client(client: Client, state: DeviceState, contested: float, now: float) -> None:
    settings = state.settings
    age = now - client.since
    if client.state is State.YIELDING:
        age = min(age, settings.revoke_patience)
    else:
        age = min(age, 1.0) if client.state is State.IDLE else 0.0
    client.since = NOW - age
    is_helped = client.state is State.YIELDING and client.helped_at > -inf
    client.helped_at = NOW - min(now - client.helped_at, HELP_PATIENCE) if is_helped else -inf
    waited = min(1.0, contested - client.contested_before) if client.holds else 0.0
    client.contested_before = -waited
    if client.interrupted is not None:
        client.interrupted = min(client.interrupted, settings.longest_turn)
    client.granted_at = client.worked_at = client.calm_since = client.parked_at = NOW
    client.moved_out_at = client.moved_in_at = NOW
    client.last_rest = client.idle_seconds = client.held_before = client.judged_busy = 0.0
    client.gained_at = client.pace = 0.0
    client.rests_since, client.growing, client.surely_out = None, False, 0


def _forget_device(state: DeviceState, now: float) -> None:
    settings = state.settings
    later = now - NOW
    state.contested_seconds, state.head_since = 0.0, NOW
    state.turn_started = NOW - min(now - state.turn_started, settings.longest_turn)
    if state.deadline is not None:
        state.deadline = max(NOW, state.deadline - later)
    if state.claim_at is not None:
        state.claim_at = max(NOW, state.claim_at - later)
    if state.head is None:
        state.claim_at = None
    state.reconnect_until = max(NOW, state.reconnect_until - later)
    state.kept_until = max(NOW, state.kept_until - later)
    if state.room_since is not None:
        state.room_since = NOW - min(now - state.room_since, settings.move_patience)
    state.alarms = {kind: max(NOW, at - later) for kind, at in state.alarms.items()}
    state.debts = {owner: until - later for owner, until in state.debts.items() if until > now}
    state.turn_changes = state.slices = 0
    # Nothing has been spent of these budgets.
    state.budget, state.high_budget = MoveBudget(counted_at=NOW), MoveBudget(counted_at=NOW)


def _rank(clients: Iterable[Client], now: float) -> None:
    """Keep only the order in which clients came and were served."""
    clients = list(clients)
    ranks = (one.rank for one in clients if one.state is State.WAITING)
    times = sorted({now, *(one.served_at for one in clients), *ranks})
    places = {time: NOW - (len(times) - 1 - place) for place, time in enumerate(times)}
    for order, client in enumerate(sorted(clients, key=lambda one: one.order), 1):
        client.order = order
        client.served_at = places[client.served_at]
        client.rank = places[client.rank] if client.state is State.WAITING else 0.0
