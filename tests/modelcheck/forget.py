"""A core's memory without the parts that make no difference, so that equal states are equal.

Time is moved so that it is always the same. Ages are kept as far as the core asks for them:

* of a revoked client: since when, up to ``revoke_patience``; of an idle client: whether any time
    has passed (that is a rest long enough for a visit: see ``SETTINGS``);
* of a turn, when it began, up to its length, and of a visitor's, whether any time has passed (then
    it has paid off); ends of turns, timers, patience for room: exactly;
* of the last service of a client: the order, and whether it was just now;
* of a rank that holds, since when, and when it stepped: as long as anything waits for that, and
    then the order. These are the only times that are no whole seconds; all others are rounded.

Recent use halves within microseconds here, so in a whole second all of it is forgotten. A client
that has waited for a second has used nothing. One that has held the device for a second has used
what anybody has who always held it: the whole, divided by the number of holders. Within a moment
nothing changes. So few different uses are left, and of older ones only the order:

* A client that waits has a place in the queue, and one with a turn has a new use at its end. Their
    uses are moved to the present, decayed.
* An idle client that pays a visit gets its place from the moment of its use, however long ago that
    was. Visitors and idle clients are in one order by that, apart from all others, with which they
    are not compared. Exactly known are the places that come from the present moment: more may come
    before or behind them.
* What the clock of use shows is never compared but with what it showed when a turn began. So all
    of these are lowered alike.

Not kept at all, because nothing in this model depends on them: statistics (turns, seconds held),
when a client last told of work (the search decides how long a rest is), measurements of moves
(they take no time, so visits cost nothing), calm and growth (the host holds everything).
"""

from collections.abc import Iterable
from dataclasses import replace
from math import ceil, floor, inf

from nvshare.core.events import TimerKind
from nvshare.core.gangs.step import LONGEST_PATIENCE
from nvshare.core.lease import State
from nvshare.core.moves.room import PATIENCE
from nvshare.core.record.client import Client
from nvshare.core.record.device import DeviceSnapshot, DeviceState, Snapshot
from nvshare.core.record.use import Use, UseClock, decay, half_life_of
from nvshare.core.settings import Settings
from nvshare.core.turns.drain import HELP_PATIENCE
from nvshare.core.turns.revoke import ROOM_PATIENCE

# Times are sums of powers of two, so moving them is exact.
NOW = 16.0
# Less than any time that makes a difference; less than ranks take to step, and more than uses last;
# and what is left of uses after that.
INSTANT, _MOMENT, NOTHING = 1e-9, 2.0**-10, 1e-30
# The longest time for which a rank that holds waits for anything.
LONGEST_HOLD = max(ROOM_PATIENCE, LONGEST_PATIENCE)

# All times are whole seconds, so that few ages differ. The half-life of use is so much shorter that
# nothing is left of a use after one of them. Moves cost nothing: otherwise programs that come and
# go within a moment would add up their costs without end.
SETTINGS = Settings(
    turn_seconds=2.0,
    turn_min=2.0**-20,
    turn_max=2.0,
    batch_turn=2.0,
    slice_seconds=0.0,
    revoke_patience=2.0,
    initial_bandwidth=inf,
)
RECONNECT_SECONDS = 1.0
HALF_LIFE = half_life_of(SETTINGS.turn_min)
# Moves are charged, although they take no time: a unit costs so much that turns swing by it. This
# ends only for programs that are always busy.
COSTLY = replace(SETTINGS, initial_bandwidth=64 / HALF_LIFE)


def forget(snapshot: Snapshot, now: float) -> None:
    """Make a snapshot of this time comparable, in place."""
    _forget_uses(snapshot.devices, now)
    _forget_services([client for device in snapshot.devices for client in device.clients], now)
    for device in snapshot.devices:
        state = device.state
        _forget_holds(device.clients, now)
        for client in device.clients:
            _forget_client(client, state, now)
        _forget_device(state, now)


def _age(since: float, now: float, most: float) -> float:
    """Return the whole seconds since a moment, up to a bound."""
    return min(float(floor(now - since + INSTANT)), most)


def _still(at: float, now: float) -> float:
    """Return a later moment, as far from the present one as it was.

    The short times for which ranks hold do not count: then it is as many whole seconds.
    """
    later = now - NOW
    if later == floor(later) or at == inf:
        return max(NOW, at - later)
    return max(NOW, NOW + ceil(at - now - INSTANT))


def _forget_holds(clients: Iterable[Client], now: float) -> None:
    """Keep since when ranks hold, and when they stepped: exactly for a while, then the order."""
    clients = list(clients)
    for client in clients:
        if client.hold.stage is None:
            client.hold.since = client.hold.stepped_at = 0.0
            client.hold.room_asked_at, client.hold.waits = None, False
    times = {client.hold.since for client in clients} | {
        client.hold.stepped_at for client in clients
    }
    times |= {
        client.hold.room_asked_at for client in clients if client.hold.room_asked_at is not None
    }
    old = sorted(time for time in times - {0.0} if now - time > LONGEST_HOLD)
    places = {time: NOW - 2 * LONGEST_HOLD - len(old) + order for order, time in enumerate(old)}
    for client in clients:
        client.hold.since = _place(client.hold.since, places, now)
        client.hold.stepped_at = _place(client.hold.stepped_at, places, now)
        if client.hold.room_asked_at is not None:
            client.hold.room_asked_at = _place(client.hold.room_asked_at, places, now)


def _place(time: float, places: dict[float, float], now: float) -> float:
    return places.get(time, round(NOW - (now - time), 6)) if time else 0.0


def _forget_client(client: Client, state: DeviceState, now: float) -> None:
    settings = state.settings
    age = _age(client.since, now, settings.revoke_patience)
    if client.state is not State.YIELDING:
        age = min(age, 1.0) if client.state is State.IDLE else 0.0
    client.since = NOW - age
    # It counts in slices only.
    client.drain.seconds = 0.0
    is_helped = client.state is State.YIELDING and client.drain.helped_at > -inf
    client.drain.helped_at = (
        NOW - min(now - client.drain.helped_at, HELP_PATIENCE) if is_helped else -inf
    )
    if client.precedence.interrupted is not None:
        client.precedence.interrupted = min(client.precedence.interrupted, settings.longest_turn)
    turn = (
        _age(client.turn.granted_at, now, 1.0)
        if client.has_turn and client.precedence.bursts
        else 0.0
    )
    client.turn.granted_at = NOW - turn
    client.work.worked_at = client.growth.calm_since = client.parked_at = NOW
    client.moving.out_at = client.moving.in_at = NOW
    client.rest.last = client.turn.idle_seconds = client.work.held_before = (
        client.work.judged_busy
    ) = 0.0
    client.growth.gained_at = client.growth.pace = 0.0
    client.rest.since, client.growth.growing, client.host_pages.surely_out = None, False, 0


def _forget_device(state: DeviceState, now: float) -> None:
    settings = state.settings
    state.turn_started = NOW - _age(state.turn_started, now, settings.longest_turn)
    if state.deadline is not None:
        state.deadline = _still(state.deadline, now)
    if state.interrupt_at is not None:
        state.interrupt_at = _still(state.interrupt_at, now)
    if state.head is None:
        state.interrupt_at = None
    state.reconnect_until = _still(state.reconnect_until, now)
    state.kept_until = _still(state.kept_until, now)
    if state.room_since is not None:
        state.room_since = NOW - _age(state.room_since, now, PATIENCE)
    state.alarms = {
        kind: max(NOW, round(NOW + at - now, 6)) if kind is TimerKind.STEP else _still(at, now)
        for kind, at in state.alarms.items()
    }
    state.turn_changes = state.slices = 0


def _forget_uses(devices: Iterable[DeviceSnapshot], now: float) -> None:
    """Move all uses to the present, and keep the order of the places that come from them."""
    devices = list(devices)
    clients = [client for device in devices for client in device.clients]
    ranks = {one.precedence.use.rank(HALF_LIFE) for one in clients if one.state is State.IDLE}
    ranks |= {
        one.precedence.rank
        for one in clients
        if one.state is State.WAITING and one.precedence.bursts
    }
    # A rank is less than that from the moment from which it comes.
    old = sorted(rank for rank in ranks if rank < now - _MOMENT)
    places = {rank: Use(at=NOW - len(old) + order) for order, rank in enumerate(old)}
    for client in clients:
        if client.state is State.WAITING and client.precedence.bursts:
            place = places.get(client.precedence.rank)
            client.precedence.rank = (
                place.rank(HALF_LIFE) if place else client.precedence.rank - (now - NOW)
            )
        place = (
            places.get(client.precedence.use.rank(HALF_LIFE))
            if client.state is State.IDLE
            else None
        )
        client.precedence.use = _moved(client.precedence.use, now, place.at if place else NOW)
    for device in devices:
        _forget_clock(device.clients, device.state.use_clock)


def _forget_clock(clients: Iterable[Client], clock: UseClock) -> None:
    marks = [one.precedence.use.mark for one in clients if one.precedence.use.mark is not None]
    least = min(marks, default=clock.reading)
    for client in clients:
        if client.precedence.use.mark is not None:
            client.precedence.use = replace(
                client.precedence.use, mark=client.precedence.use.mark - least
            )
    clock.reading -= least
    clock.at = NOW


def _moved(use: Use, now: float, to: float) -> Use:
    """Return the same use at another time, where it decays as it has until now."""
    kept = decay(now - use.at, HALF_LIFE)
    mark = None if use.mark is None else use.mark * kept
    seconds = use.seconds * kept
    return Use(seconds if seconds > NOTHING else 0.0, to, mark)


def _forget_services(clients: Iterable[Client], now: float) -> None:
    """Keep only the order in which clients came and were served."""
    clients = list(clients)
    waiting = [one for one in clients if one.state is State.WAITING and not one.precedence.bursts]
    times = sorted(
        {
            now,
            *(one.precedence.served_at for one in clients),
            *(one.precedence.rank for one in waiting),
        }
    )
    places = {time: NOW - (len(times) - 1 - place) for place, time in enumerate(times)}
    for order, client in enumerate(sorted(clients, key=lambda one: one.order), 1):
        client.order = order
        client.precedence.served_at = places[client.precedence.served_at]
        if client.state is not State.WAITING:
            client.precedence.rank = 0.0
        elif not client.precedence.bursts:
            client.precedence.rank = places[client.precedence.rank]
