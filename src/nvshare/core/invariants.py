"""What must hold after every event, checked on the state. For tests and debugging, not for speed.

Promises about time (no client starves) cannot be seen in one state. The property tests check them
over whole histories.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from math import inf

from nvshare.core.clients.roster import Roster
from nvshare.core.device.device import Device
from nvshare.core.events import TimerKind
from nvshare.core.gangs import Gangs
from nvshare.core.gangs.invariants import gang_problems
from nvshare.core.host.admit import admits, host_lets, host_lets_all, running_admits
from nvshare.core.host.host import Host
from nvshare.core.journal.journal import Journal
from nvshare.core.lease import State
from nvshare.core.memory import Load
from nvshare.core.record.client import Client, Park
from nvshare.core.record.device import RegimeName
from nvshare.core.regimes import first_regime
from nvshare.core.settings import Mode
from nvshare.core.turns.revoke import next_step, still_waited_for
from nvshare.core.turns.undrained import fits_beside_undrained


class BrokenInvariant(Exception):  # noqa: N818  (what is broken is ours, not the caller's)
    """The core has a bug. The text says what does not hold, and on which device."""


def validate(devices: Collection[Device], host: Host, gangs: Gangs, journal: Journal) -> None:
    """Raise BrokenInvariant unless everything holds that must hold."""
    found = {device.state.id: list(_problems(device)) for device in devices}
    found["host"] = list(_host(host, devices))
    found["gangs"] = list(gang_problems(devices))
    found["host"] += [f"{one.state.id} knows other host memory" for one in devices if one.is_stale]
    if not gangs.is_arranged:
        found["gangs"].append("a client is told one thing and then another, without end")
    for name, problems in found.items():
        if problems:
            told = "\n  ".join(journal.lines())
            raise BrokenInvariant(f"{name}: {'; '.join(problems)}\n  {told}")


def _host(host: Host, devices: Iterable[Device]) -> Iterator[str]:
    """The sums of the host's memory have not drifted, and an excess is noted."""
    room, state = host.room, host.state
    clients = [c for device in devices for c in device.roster.clients.values()]
    if room.kept != sum(client.booked for client in clients):
        yield f"kept is {room.kept}, which is not what the clients take"
    if room.swappable != sum(client.memory.swappable for client in clients):
        yield "the sum of memory that could leave the devices is wrong"
    if state.exceeded != (state.limit is not None and room.kept > state.limit):
        yield "the flag that the limit is exceeded is wrong"
    for name, pool in state.pools.items():
        members = [client for client in clients if client.id in pool.charged]
        left = pool.room - sum(max(0, c.booked - pool.charged[c.id]) for c in members)
        if any(left not in [level.left for level in room.levels_of(one)] for one in members):
            yield f"the room left in {name} is wrong"


def _problems(device: Device) -> Iterator[str]:
    if not device.roster.is_settled:
        yield "who may run was not found in so many rounds"
    yield from _membership(device.roster)
    yield from _sums(device.roster)
    yield from _queue(device.roster)
    yield from _turns(device)
    all_are_back = device.state.is_open
    if all_are_back:
        yield from _regime(device)
        yield from _running_fits(device.roster)
        yield from _together(device)
        yield from _waiting(device)
        yield from _parking(device)
        yield from _timers(device)


def _membership(roster: Roster) -> Iterator[str]:
    """Each client is in exactly the set of its state."""
    sets = {
        State.IDLE: list(roster.idle.values()),
        State.WAITING: [*roster.waiting, *roster.barred.values()],
        State.RUNNING: list(roster.running.values()),
        State.YIELDING: [*roster.yielding.values(), *roster.overdue.values()],
    }
    for state, members in sets.items():
        expected = {c.id for c in roster.clients.values() if c.state is state}
        if {c.id for c in members} != expected or len(members) != len(expected):
            yield f"the set of clients that are {state.value} is wrong"
    if set(roster.closed) != {c.id for c in _without_turn(roster) if c.staying}:
        yield "the set of clients that have memory behind a closed gate is wrong"
    if set(roster.parked) != {c.id for c in roster.clients.values() if c.park}:
        yield "the set of parked clients is wrong"
    if set(roster.barred) != {c.id for c in roster.clients.values() if c.is_barred}:
        yield "the set of clients that wait and are parked by hand is wrong"
    if set(roster.over) != {c.id for c in roster.clients.values() if c.excess.over_limit}:
        yield "the set of clients that exceed their limits is wrong"
    cramped = {c.id for c in roster.clients.values() if c.moving.missing or c.moving.told_missing}
    if set(roster.cramped) != cramped:
        yield "the set of clients that have no room yet is wrong"
    if set(roster.newcomers) != {c.id for c in roster.clients.values() if c.moving.awaits_room}:
        yield "the set of clients whose contexts have no room yet is wrong"
    if any(not roster.clients[name].has_turn for name in cramped):
        yield "a client without a turn waits for room"
    if set(roster.undrained) != {c.id for c in roster.running.values() if c.drain.undrained}:
        yield "the set of clients that cannot give way is wrong"
    if set(roster.active) != {c.id for c in roster.clients.values() if c.work.active}:
        yield "the set of clients that have work on the device is wrong"
    if set(roster.soft_revoked) != {c.id for c in roster.running.values() if c.turn.soft_revoked}:
        yield "the set of clients that were asked to give way is wrong"


def _without_turn(roster: Roster) -> list[Client]:
    return [*roster.idle.values(), *roster.waiting, *roster.barred.values()]


def _sums(roster: Roster) -> Iterator[str]:
    """No sum has drifted from its parts."""
    clients = list(roster.clients.values())
    closed = _without_turn(roster)
    away = [c for c in clients if c.is_away]
    expected = {
        "everyone_load": _everyone_load(roster),
        "classes": Counter(c.limits.priority for c in clients if not c.is_away),
        "parked_away": sum(c.memory.swappable - c.staying for c in away),
        "waiting_load": _load(roster.waiting),
        "running_load": _load(roster.running.values()),
        "yielding_load": _load(roster.yielding.values()),
        "busy": sum(c.work.busy for c in clients),
        "pinned": sum(c.memory.pinned for c in clients),
        "swappable": sum(c.memory.swappable for c in clients),
        "running_bytes": sum(c.present for c in roster.running.values()),
        "yielding_bytes": sum(c.inside for c in roster.yielding.values()),
        "closed_bytes": sum(c.staying for c in closed),
        "outbound_bytes": sum(c.moving.outbound for c in clients),
        "leaving_bytes": sum(c.leaving for c in (*closed, *roster.yielding.values())),
    }
    for name, value in expected.items():
        if getattr(roster, name) != value:
            yield f"{name} is {getattr(roster, name)}, not {value}"
    if any(c.weight != roster.regime.weigh(c) for c in clients):
        yield "a client has the wrong weight"


def _everyone_load(roster: Roster) -> Load:
    load = _load(c for c in roster.clients.values() if not c.is_away)
    for client in roster.parked.values():
        if client.is_away:
            load.add(roster.regime.parked_weight(client))
    return load


def _load(clients: Iterable[Client]) -> Load:
    load = Load()
    for client in clients:
        load.add(client.weight)
    return load


def _queue(roster: Roster) -> Iterator[str]:
    places = [client.place for client in roster.waiting]
    if places != sorted(places):
        yield "the waiting clients are out of order"


def _turns(device: Device) -> Iterator[str]:
    """Turn numbers are given once, and in advance only to waiting clients."""
    for client in device.roster.clients.values():
        if max(client.turn.number, client.turn.next or 0) > device.state.last_turn:
            yield f"client {client.id} has a turn that was never numbered"
        if client.turn.next is not None and client.state is not State.WAITING:
            yield f"client {client.id} does not wait, and is to be handed a turn"


def _regime(device: Device) -> Iterator[str]:
    """Slices are taken where they help, and nowhere else."""
    roster, settings = device.roster, device.state.settings
    present = [c for c in roster.clients.values() if not c.is_away]
    size = sum(c.memory.swappable for c in present)
    size += sum(c.staying for c in roster.parked.values() if c.is_away)
    fits = settings.mode is Mode.AUTO and size <= roster.room
    expected = first_regime(settings.mode)
    if fits and len({c.limits.priority for c in present}) > 1:
        expected = RegimeName.RANKED
    elif fits and settings.slice_seconds > 0 and roster.busy > 1:
        expected = RegimeName.BUSY
    if roster.regime.name is not expected or device.state.regime is not expected:
        yield "the device is shared by the wrong regime"


def _running_fits(roster: Roster) -> Iterator[str]:
    """The running clients fit together, unless one alone does not."""
    if roster.undrained:
        # One of them may have grown and cannot give way; the others have been told to.
        return
    if not roster.running_load.fits(roster.capacity):
        yield "the running clients do not fit together"
    if any(c.growth.grown for c in roster.running.values()) and not host_lets_all(
        roster, roster.running
    ):
        yield "a client has grown beside memory that cannot leave, and runs"


def _together(device: Device) -> Iterator[str]:
    """While everything fits, every client runs and none is asked to give way."""
    roster = device.roster
    open_to_all = [c for c in (*roster.idle.values(), *roster.waiting) if not c.park]
    # A client of a gang may wait, or be asked, because of another device.
    if roster.everything_fits and any(not c.in_gang for c in open_to_all):
        yield "everything fits, but a client's gate is closed"
    if roster.everything_fits and any(not c.in_gang for c in roster.soft_revoked.values()):
        yield "everything fits, but a client was asked to give way"
    closed = (c for c in roster.closed.values() if not c.in_gang)
    if not roster.regime.takes_turns and any(not c.park for c in closed):
        yield "there is no scheduling, but a client's gate is closed"


def _waiting(device: Device) -> Iterator[str]:
    """A client that waits is in another one's way; a client that fits does not wait."""
    roster, state = device.roster, device.state
    head = None if state.head is None else roster.clients.get(state.head)
    able = [
        one
        for one in roster.waiting
        if host_lets(roster, one) and fits_beside_undrained(roster, one)
    ]
    able = [one for one in able if not one.gang.stalled]
    able = [] if _all_fits_but_for_gangs(roster) else able
    if (head in able) != bool(able) or (head and head not in able):
        yield "the head is not a client that waits and could run"
    alone = [one for one in roster.waiting if not one.in_gang]
    if head in alone and admits(roster, head):
        yield "the head fits and is kept waiting"
    if any(c.weight == 0 for c in alone):
        yield "a client waits that is in no other client's way"
    # A client with all its memory on the device pushes nothing out. One of a gang may wait for
    # another device.
    able = [one for one in able if not one.in_gang]
    able += [one for one in alone if not one.memory.swapped and not one.growth.grown]
    comes = head is not None and head.in_gang
    if able and not roster.running and not roster.yielding and not comes:
        yield "a client waits, and the device is idle"
    if not head and any(not c.in_gang for c in roster.soft_revoked.values()):
        yield "no client waits, but one was asked to give way"


def _all_fits_but_for_gangs(roster: Roster) -> bool:
    """Whether all waiting clients are of gangs that wait for other devices: none is the head."""
    return roster.everything_fits and all(one.in_gang for one in roster.waiting)


def _parking(device: Device) -> Iterator[str]:
    """A parked client has no turn, and all its memory that may be there is on the host."""
    roster, state = device.roster, device.state
    for client in roster.parked.values():
        if client.state is State.RUNNING and not client.drain.undrained:
            yield "a parked client runs"
        if client.park is Park.IDLE and client.state is not State.IDLE:
            yield "a client is parked for being idle, and is not idle"
        if client.is_away and (client.work.busy or client.work.active):
            yield "a parked client counts as having work"
        can = not roster.host.is_tight or roster.host.allowance().take(client, client.staying)
        waits = TimerKind.PARK in state.alarms or (client.leaving and roster.host.is_tight)
        if client.is_away and client.staying and can and not waits:
            yield "the memory of a parked client stays although it could leave"
    asked = [c for c in roster.clients.values() if c.rest.asked_at is not None]
    if set(roster.resting) != {c.id for c in asked}:
        yield "the set of clients that were asked to rest is wrong"
    if any(c.state is not State.RUNNING for c in asked):
        yield "a client without a turn was asked to rest"
    if asked and (state.settings.idle_park is None or any(c.turn.soft_revoked for c in asked)):
        yield "a client was asked to rest that need not"


def _timers(device: Device) -> Iterator[str]:
    """A timer runs for everything that only time can end, and for nothing else."""
    roster, state = device.roster, device.state
    head = None if state.head is None else roster.clients.get(state.head)
    needs_turn_end = head is not None and not running_admits(roster, *roster.party(head))
    # A gang whose turn would be due here may wait for another device.
    waits = head is not None and head.in_gang and TimerKind.TURN not in state.alarms
    if needs_turn_end != (TimerKind.TURN in state.alarms) and not waits:
        yield "the timer of the turn is wrong"
    running = roster.running.values()
    in_the_way = (one for one in running if one.weight and not one.drain.undrained)
    if needs_turn_end and not all(client.turn.soft_revoked for client in in_the_way):
        yield "a client in the head's way was not asked to give way"
    left_alone = [*roster.undrained.values(), *roster.overdue.values()]
    if any(one.drain.retry_at for one in left_alone) != (TimerKind.UNDRAINED in state.alarms):
        yield "the timer of clients that cannot give way is wrong"
    if any(True for _ in still_waited_for(roster)) != (TimerKind.PATIENCE in state.alarms):
        yield "the timer of patience is wrong"
    if (next_step(roster) < inf) != (TimerKind.STEP in state.alarms):
        yield "the timer of clients that hold is wrong"
