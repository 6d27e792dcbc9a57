"""Which clients fit together on one device, and within what the host can hold. Keeps nothing."""

from collections import ChainMap
from collections.abc import Container, Iterable, Iterator, Mapping
from operator import attrgetter

from nvshare.core.clients.counts import Counts
from nvshare.core.host.safe_order import leaves_hope
from nvshare.core.memory import Load, Memory
from nvshare.core.record.client import Client
from nvshare.core.record.device import DeviceState


def _overflow(swappable: int, room: int) -> int:
    return min(swappable, max(0, swappable - room))


class Fitting(Counts):
    """Questions about room, answered from the sums."""

    state: DeviceState

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

    def admits(self, *clients: Client) -> bool:
        """Whether clients, which fit together, fit beside all holders of turns."""
        running, yielding = self.running_load, self.yielding_load
        held = Load(running.weight + yielding.weight, running.heavy + yielding.heavy)
        fits = held.admits(sum(client.weight for client in clients), self.capacity)
        return fits and self._host_lets_each(clients, self.running, self.yielding)

    def running_admits(self, *clients: Client) -> bool:
        """Whether clients fit beside the running ones, once the yielding ones have given way."""
        fits = self.running_load.admits(sum(client.weight for client in clients), self.capacity)
        return fits and self._host_lets_each(clients, self.running)

    def _host_lets_each(self, clients: Iterable[Client], *others: Mapping[int, Client]) -> bool:
        if not self.host.is_tight:
            return True
        together = {client.id: client for client in clients}
        return all(self.host_lets(client, together, *others) for client in together.values())

    def host_lets(self, client: Client, *others: Mapping[int, Client]) -> bool:
        """Whether the host can hold what has to leave if a client runs with these.

        A client that is larger than the device pushes all others out.
        """
        if not self.host.is_tight or not client.memory.swappable:
            return True
        return self.host_lets_all({client.id: client}, *others)

    def host_lets_all(self, *clients: Mapping[int, Client]) -> bool:
        """Whether these may run together: room for all, and hope (host/safe_order.py)."""
        if not self.host.is_tight or not self.regime.takes_turns:
            return True
        together = dict(ChainMap(*map(dict, clients)))
        return self.has_room_for(together) and leaves_hope(self, together)

    def has_room_for(self, together: Mapping[int, Client]) -> bool:
        """Whether these could run together without displacing memory that cannot leave."""
        stuck = self.stuck_beside(together)
        size = sum(client.memory.swappable for client in together.values())
        return not stuck or size + stuck <= self.room

    def stuck_beside(self, running: Container[int]) -> int:
        """Bytes of all others that could not leave if these ran."""
        return sum(stuck for _, stuck in self.stuck_of_others(running))

    def stuck_of_others(self, running: Container[int]) -> Iterator[tuple[Client, int]]:
        """Yield these bytes by client."""
        if self.host.is_tight:
            allowance = self.host.allowance()
            for client in sorted(self.clients.values(), key=attrgetter("id")):
                stays = 0 if client.id in running else client.inside
                if stays and (stuck := stays - allowance.take(client, stays)):
                    yield client, stuck
