"""The table of a device's clients: sets of them, and sums over them. Decides nothing.

What a client counts for follows from its record alone, by the rules below. Whoever has changed a
record has the table note it. ``note`` compares what the client counts for now with what was counted
for it before. So no event needs to look at all clients, and nothing can be counted out that was not
counted in.
"""

from typing import Any

from nvshare.core.clients.counters import (
    Bytes,
    BytesOf,
    Clients,
    Count,
    LoadOf,
    NumberOf,
    OrderedSetOf,
    QueueOf,
    SetOf,
    SumOf,
)
from nvshare.core.clients.host_room import NOTHING_KEPT, HostRoom, Kept
from nvshare.core.lease import State
from nvshare.core.memory import Memory
from nvshare.core.record.client import Client
from nvshare.core.record.device import DeviceState
from nvshare.core.regimes.regime import Regime
from nvshare.core.settings import Priority


class Counts:
    """The clients of a device, what is counted of them, and what room that leaves."""

    # By state. The last one in `running` was granted last.
    idle = OrderedSetOf(lambda one: one.order if one.state is State.IDLE else None)
    running = OrderedSetOf(lambda one: one.order if one.state is State.RUNNING else None)
    yielding = OrderedSetOf(lambda one: one.order if one.is_yielding else None)
    # Yielding for so long that others go on without them.
    overdue = SetOf(lambda one: one.turn.overdue)
    waiting = QueueOf(lambda one: one.place if one.is_waiting else None)
    # Waiting too, but parked by hand.
    barred = SetOf(lambda one: one.is_barred)

    # Running ones that cannot give way, and are told nothing for now.
    undrained = SetOf(lambda one: one.drain.undrained)
    # Running ones that were asked to give way when idle; and after a long rest.
    soft_revoked = SetOf(lambda one: one.turn.soft_revoked)
    resting = SetOf(lambda one: one.rest.asked_at is not None)
    # Clients whose compute is capped; and clients that have not been told their limits.
    with_share = SetOf(lambda one: one.has_share)
    untold = SetOf(lambda one: one.untold)
    # Clients that had work on the device by their last report.
    active = SetOf(lambda one: one.work.active)
    # Clients with incoming memory that has no room yet, or that have to be told that it has.
    cramped = SetOf(lambda one: one.moving.lacks_room)
    # Clients whose contexts have no room yet.
    newcomers = SetOf(lambda one: one.moving.awaits_room > 0)
    # Clients with a closed gate and memory on the device.
    closed = SetOf(lambda one: not one.has_turn and one.staying > 0)
    # Clients whose memory is all to be on the host.
    parked = SetOf(lambda one: one.park is not None)
    # Clients beyond their limit.
    over = SetOf(lambda one: one.excess.over_limit > 0)
    # Clients that copy their memory out themselves.
    copied = SetOf(lambda one: one.kind.is_copied)
    # Clients that have gained memory in their turns, not checked yet whether it fits.
    grown = SetOf(lambda one: one.growth.grown > 0)

    # Competing clients of each priority; and clients of each user or container that compete for the
    # device at present: they hold it or wait for it, and weigh something.
    classes = NumberOf[Priority](lambda one: None if one.is_away else one.limits.priority)
    tenants = NumberOf[str](lambda one: one.tenant if one.weight and one.is_present else None)
    # Clients that compute all the time.
    busy = SumOf(lambda one: int(one.work.busy))

    everyone_load = LoadOf(lambda one: one.taken)
    waiting_load = LoadOf(lambda one: one.weight if one.is_waiting else None)
    running_load = LoadOf(lambda one: one.weight if one.state is State.RUNNING else None)
    yielding_load = LoadOf(lambda one: one.weight if one.is_yielding else None)

    # The sums of counters.Bytes: how much all clients have, and where it is.
    bytes = BytesOf(lambda one: _bytes_of(one))
    pinned: int
    swappable: int
    parked_away: int
    running_bytes: int
    yielding_bytes: int
    closed_bytes: int
    leaving_bytes: int
    outbound_bytes: int

    def __init__(self, state: DeviceState, host: HostRoom, regime: Regime) -> None:
        self.state = state
        # Shared by all devices.
        self.host = host
        self.regime = regime
        # Whether the clients that work at the same time have changed since the last attribution.
        self.neighbours_changed = True
        # Whether the last search for who may run has come to an end (turns/gates.py).
        self.is_settled = True
        self.clients: Clients = {}
        self._noted: dict[int, tuple[tuple[Any, ...], Kept]] = {}
        for counter in _COUNTERS:
            setattr(self, counter.name, counter.empty())
        for name in Bytes._fields:
            setattr(self, name, 0)

    def note(self, client: Client) -> None:
        """Count a client for what its record says now. One that is gone counts for nothing."""
        before, kept = self._noted.get(client.id, _NOTHING)
        if client.state is State.GONE:
            after, keeps = _NOTHING
            self.clients.pop(client.id, None)
            self._noted.pop(client.id, None)
        else:
            client.weight = self.regime.weigh(client)
            client.taken = self.regime.parked_weight(client) if client.is_away else client.weight
            after, keeps = tuple([rule(client) for rule in _RULES]), Kept.of(client)
            self.clients[client.id] = client
            self._noted[client.id] = after, keeps
        if after != before:
            for counter, was, now in zip(_COUNTERS, before, after, strict=True):
                if was != now:
                    counter.change(self, client, was, now)
        if keeps != kept:
            self.host.count(client, kept, keeps)
        if client.state is State.GONE:
            self.host.forget(client)

    @property
    def usable(self) -> int:
        """Bytes of the device that clients may fill."""
        return max(0, self.state.usable_bytes - self.state.outside_bytes)

    @property
    def context(self) -> int:
        """Bytes that the context of one more client takes, as far as is known."""
        return self.state.context_bytes

    @property
    def unasked(self) -> int:
        """Bytes that each client may gain without asking."""
        return self.state.unasked_bytes

    @property
    def room(self) -> int:
        """Bytes of the device that swappable memory may fill."""
        return self.usable - self.pinned

    @property
    def capacity(self) -> int:
        """What clients compete for, in the unit of their weights."""
        return self.regime.capacity(self.room)

    @property
    def memory_suffices(self) -> bool:
        """Whether all clients' memory fits, except memory of parked clients that is away."""
        return self.swappable - self.parked_away <= self.room

    @property
    def everything_fits(self) -> bool:
        """Whether all clients, whatever their state, may run together.

        Of parked clients, only memory that is still on the device takes room.
        """
        return self.everyone_load.fits(self.capacity)

    @property
    def overcommit(self) -> int:
        """Bytes that others have to move out before all running clients can have theirs in."""
        used = self.running_bytes + self.yielding_bytes + self.closed_bytes
        return used - self.room

    @property
    def missing(self) -> int:
        """Bytes that others are still to move out until all running clients have room for theirs.

        It is 0 where waiting would be useless: without scheduling no client moves out, and after a
        long time without any move none is expected.
        """
        waits = self.regime.takes_turns and not self.state.room_waived
        return self.lacking if waits else 0

    @property
    def lacking(self) -> int:
        """The same bytes, whether waiting for them is useful or not."""
        leaving = self.leaving_bytes + self.outbound_bytes
        # Others cannot make room for the part by which running clients are too large themselves.
        others = leaving + self.yielding_bytes + self.closed_bytes
        return max(0, min(others, self.overcommit + leaving))

    @property
    def overflow(self) -> int:
        """Bytes by which the memory of all clients exceeds the room."""
        return _overflow(self.swappable, self.room)

    def overflow_with(self, client: Client, memory: Memory) -> int:
        """Return the overflow if a client had this memory instead of its own."""
        memory = memory.as_kind(client.kind)
        swappable = self.swappable - client.memory.swappable + memory.swappable
        return _overflow(swappable, self.room + client.memory.pinned - memory.pinned)

    @property
    def headroom(self) -> int:
        """The weight that could be let in now beside the holders of turns."""
        return self.capacity - self.running_load.weight - self.yielding_load.weight

    @property
    def in_the_way(self) -> list[Client]:
        """The running clients that have weight and can give way."""
        running = self.running.values()
        return [client for client in running if client.weight and not client.drain.undrained]


def _bytes_of(one: Client) -> Bytes:
    pinned, swappable, outbound = one.memory.pinned, one.memory.swappable, one.moving.outbound
    if one.state is State.RUNNING:
        return Bytes(pinned, swappable, running_bytes=one.present, outbound_bytes=outbound)
    if one.turn.overdue:
        return Bytes(pinned, swappable, outbound_bytes=outbound)
    leaving = one.leaving
    if one.state is State.YIELDING:
        inside = one.inside
        return Bytes(pinned, swappable, 0, 0, inside, 0, leaving, outbound)
    staying = one.present - leaving
    away = 0 if one.park is None else swappable - staying
    return Bytes(pinned, swappable, away, 0, 0, staying, leaving, outbound)


def _overflow(swappable: int, room: int) -> int:
    return min(swappable, max(0, swappable - room))


_COUNTERS: tuple[Count[Any], ...] = tuple(
    counter for counter in vars(Counts).values() if isinstance(counter, Count)
)
_RULES = tuple(counter.rule for counter in _COUNTERS)
_NOTHING = tuple(counter.nothing for counter in _COUNTERS), NOTHING_KEPT
