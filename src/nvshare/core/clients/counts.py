"""The table of a device's clients: sets of them, and sums over them. Decides nothing.

What a client counts for follows from its record alone, by the rules below. Whoever has changed a
record has the table note it. ``note`` compares what the client counts for now with what was counted
for it before. So no event needs to look at all clients, and nothing can be counted out that was not
counted in.
"""

from typing import TYPE_CHECKING, Any

from nvshare.core.clients.counters import (
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
from nvshare.core.record.client import Client
from nvshare.core.settings import Priority

if TYPE_CHECKING:
    from nvshare.core.regimes import Regime


class Counts:
    """The clients of a device, and what is counted of them."""

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
    cramped = SetOf(lambda one: one.moving.missing > 0 or one.moving.told_missing > 0)
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

    # Competing clients of each priority; and clients of each user or container that hold the device
    # or wait for it.
    classes = NumberOf[Priority](lambda one: None if one.is_away else one.limits.priority)
    tenants = NumberOf[str](lambda one: one.tenant if one.has_turn or one.is_waiting else None)
    # Clients that compute all the time.
    busy = SumOf(lambda one: int(one.work.busy))

    everyone_load = LoadOf(lambda one: one.claim)
    waiting_load = LoadOf(lambda one: one.weight if one.is_waiting else None)
    running_load = LoadOf(lambda one: one.weight if one.state is State.RUNNING else None)
    yielding_load = LoadOf(lambda one: one.weight if one.is_yielding else None)

    # Bytes of all clients; those of parked clients that are away; and those on the device. Overdue
    # clients are paged out by the driver.
    pinned = SumOf(lambda one: one.memory.pinned)
    swappable = SumOf(lambda one: one.memory.swappable)
    parked_away = SumOf(lambda one: one.memory.swappable - one.staying if one.is_away else 0)
    running_bytes = SumOf(lambda one: one.present if one.state is State.RUNNING else 0)
    yielding_bytes = SumOf(lambda one: one.inside if one.is_yielding else 0)
    closed_bytes = SumOf(lambda one: 0 if one.has_turn else one.staying)
    # Bytes that were ordered out and are still on the device, and bytes that count as swapped and
    # still are. No other sum has them.
    leaving_bytes = SumOf(lambda one: one.leaving if one.is_yielding or not one.has_turn else 0)
    outbound_bytes = SumOf(lambda one: one.moving.outbound)

    def __init__(self, host: HostRoom, regime: "Regime") -> None:
        # Shared by all devices.
        self.host = host
        self.regime = regime
        # Whether the clients that work at the same time have changed since the last attribution.
        self.neighbours_changed = True
        self.clients: Clients = {}
        self._noted: dict[int, tuple[tuple[Any, ...], Kept]] = {}
        for counter in _COUNTERS:
            setattr(self, counter.name, counter.empty())

    def note(self, client: Client) -> None:
        """Count a client for what its record says now. One that is gone counts for nothing."""
        before, kept = self._noted.get(client.id, _NOTHING)
        if client.state is State.GONE:
            after, keeps = _NOTHING
            self.clients.pop(client.id, None)
            self._noted.pop(client.id, None)
        else:
            client.weight = self.regime.weigh(client)
            client.claim = self.regime.claim(client) if client.is_away else client.weight
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


_COUNTERS: tuple[Count[Any], ...] = tuple(
    counter for counter in vars(Counts).values() if isinstance(counter, Count)
)
_RULES = tuple(counter.rule for counter in _COUNTERS)
_NOTHING = tuple(counter.nothing for counter in _COUNTERS), NOTHING_KEPT
