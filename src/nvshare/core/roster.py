"""Who is where on one device, and what that adds up to. Keeps count; decides nothing.

Every sum is kept up to date by ``_count``, which is called with the client as it was and as it
is, so no event needs to look at all clients.
"""

from bisect import bisect_left, insort
from collections import ChainMap, Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING

from nvshare.core.client import Client, Park
from nvshare.core.hope import leaves_hope
from nvshare.core.hostroom import HostRoom
from nvshare.core.lease import State, Step, next_state
from nvshare.core.memory import Kind, Load, Memory
from nvshare.core.policies import Policy
from nvshare.core.settings import NO_LIMITS, Limits, Priority
from nvshare.core.state import DeviceState

if TYPE_CHECKING:
    from nvshare.core.regimes import Regime

_place = attrgetter("standing", "rank", "order")


def _overflow(swappable: int, room: int) -> int:
    return min(swappable, max(0, swappable - room))


class Queue:
    """Those who wait, in the order of the policy."""

    def __init__(self) -> None:
        self._clients: list[Client] = []

    def __len__(self) -> int:
        return len(self._clients)

    def __iter__(self) -> Iterator[Client]:
        return iter(self._clients)

    def __reversed__(self) -> Iterator[Client]:
        return reversed(self._clients)

    def add(self, client: Client) -> None:
        """Put a client in its place."""
        insort(self._clients, client, key=_place)

    def remove(self, client: Client) -> None:
        """Take a client out."""
        place = bisect_left(self._clients, _place(client), key=_place)
        del self._clients[place]

    def first(self) -> Client | None:
        """Return whoever is next."""
        return self._clients[0] if self._clients else None


class Roster:
    """The clients of a device by state, and the sums over them."""

    def __init__(
        self,
        state: DeviceState,
        policy: Policy,
        regime: "Regime",
        host: HostRoom | None = None,
    ) -> None:
        self._state = state
        self.policy = policy
        # What clients compete for. Every weight and sum below is by its rules.
        self.regime = regime
        # Shared by all devices.
        self.host = host or HostRoom()
        self.clients: dict[int, Client] = {}
        # Dicts keep the order of arrival: the last one in `running` was granted last.
        self.idle: dict[int, Client] = {}
        self.waiting = Queue()
        # Waiting too, but parked by hand.
        self.barred: dict[int, Client] = {}
        self.running: dict[int, Client] = {}
        self.yielding: dict[int, Client] = {}
        # Yielding too, but for so long that others go on without them.
        self.overdue: dict[int, Client] = {}
        # Those of the running who were asked to give way when idle.
        self.asked: dict[int, Client] = {}
        # Those of the running who were asked to give their turns up after a long rest.
        self.resting: dict[int, Client] = {}
        # Those whose compute is capped; and those who have not been told their limits.
        self.with_share: dict[int, Client] = {}
        self.untold: dict[int, Client] = {}
        # Those who had work on the device when they last told; and whether who is there together
        # has changed since somebody looked.
        self.active: dict[int, Client] = {}
        self.company_changed = True
        # How many there are of each priority, of those who compete for anything.
        self.classes: Counter[Priority] = Counter()
        # Those who bring memory in, and have no room for all of it or have to be told that they do.
        self.cramped: dict[int, Client] = {}
        # Those whose contexts have no room yet.
        self.newcomers: dict[int, Client] = {}
        # Those whose gate is closed, but who have memory on the device.
        self.closed: dict[int, Client] = {}
        # Those whose memory is to be on the host.
        self.parked: dict[int, Client] = {}
        # Those who are beyond their limit.
        self.over: dict[int, Client] = {}
        # Those who copy their memory out themselves.
        self.copied: dict[int, Client] = {}
        # Those who have gained memory in their turns, since somebody looked whether it fits.
        self.grown: dict[int, Client] = {}
        self._orders = 0
        self._clear_sums()

    def _clear_sums(self) -> None:
        self.everyone_load = Load()
        self.waiting_load = Load()
        self.running_load = Load()
        self.yielding_load = Load()
        self.pinned = 0
        # Swappable bytes of all, and what is away of those who are parked; and what those who run,
        # and others, have on the device.
        self.swappable = 0
        self.parked_away = 0
        self.running_bytes = 0
        self.yielding_bytes = 0
        self.closed_bytes = 0
        # What was ordered out, is on the device still, and not in any of the others.
        self.leaving_bytes = 0
        # What counts as swapped, and is on the device still; in none of the others either.
        self.outbound_bytes = 0
        # How many compute all the time.
        self.busy = 0

    @property
    def usable(self) -> int:
        """Bytes of the device that clients may fill."""
        return self._state.usable_bytes

    @property
    def context(self) -> int:
        """Bytes of those that the context of one more client takes, as far as is known."""
        return self._state.context_bytes

    @property
    def unasked(self) -> int:
        """Bytes that each client may gain without asking."""
        return self._state.unasked_bytes

    @property
    def room(self) -> int:
        """Bytes of the device that swappable memory may fill."""
        return self._state.usable_bytes - self.pinned

    @property
    def capacity(self) -> int:
        """What clients compete for, in the unit of their weights."""
        return self.regime.capacity(self.room)

    @property
    def memory_suffices(self) -> bool:
        """Whether everything fits that all have, without what is away of those who are parked."""
        return self.swappable - self.parked_away <= self.room

    @property
    def everything_fits(self) -> bool:
        """Whether all clients, whatever their state, may run together.

        Of those who are parked, only what is still on the device takes room.
        """
        return self.everyone_load.fits(self.capacity)

    @property
    def excess(self) -> int:
        """Bytes that others have to move out before all who run can have theirs in."""
        used = self.running_bytes + self.yielding_bytes + self.closed_bytes
        return used - self.room

    @property
    def missing(self) -> int:
        """Bytes that others are still to move out until all who run have room for theirs.

        Where nobody schedules, nobody moves out, and waiting for it would be in vain; and so it is
        when nobody has moved anything for long.
        """
        waits = self.regime.takes_turns and not self._state.room_waived
        return self.lacking if waits else 0

    @property
    def lacking(self) -> int:
        """The same, whether it is worth waiting for or not."""
        leaving = self.leaving_bytes + self.outbound_bytes
        # What those who run have too much of themselves, nobody else can make room for.
        others = leaving + self.yielding_bytes + self.closed_bytes
        return max(0, min(others, self.excess + leaving))

    @property
    def overflow(self) -> int:
        """Bytes of all clients that cannot be on the device at the same time as the rest."""
        return _overflow(self.swappable, self.room)

    def overflow_with(self, client: Client, memory: Memory) -> int:
        """What that would be if a client had other memory than it has."""
        memory = memory.as_kind(client.kind)
        swappable = self.swappable - client.memory.swappable + memory.swappable
        return _overflow(swappable, self.room + client.memory.pinned - memory.pinned)

    @property
    def headroom(self) -> int:
        """The weight that could be let in now, beside those who hold a turn."""
        return self.capacity - self.running_load.weight - self.yielding_load.weight

    def admits(self, client: Client) -> bool:
        """Whether a client fits beside all who hold a turn."""
        running, yielding = self.running_load, self.yielding_load
        held = Load(running.weight + yielding.weight, running.heavy + yielding.heavy)
        fits = held.admits(client.weight, self.capacity)
        return fits and self.host_lets(client, self.running, self.yielding)

    def running_admits(self, client: Client) -> bool:
        """Whether a client fits beside those who run, once the others have given way."""
        fits = self.running_load.admits(client.weight, self.capacity)
        return fits and self.host_lets(client, self.running)

    def host_lets(self, client: Client, *others: Mapping[int, Client]) -> bool:
        """Whether a client may run with these, as far as the host holds what would have to leave.

        Somebody who is larger than the device pushes everybody else out.
        """
        if not self.host.is_tight or not client.memory.swappable:
            return True
        return self.host_lets_all({client.id: client}, *others)

    def host_lets_all(self, *clients: Mapping[int, Client]) -> bool:
        """Whether these may run together: they can, and leave hope to everybody."""
        if not self.host.is_tight or not self.regime.takes_turns:
            return True
        together = dict(ChainMap(*map(dict, clients)))
        return self.has_room_for(together) and leaves_hope(self, together)

    def has_room_for(self, together: Mapping[int, Client]) -> bool:
        """Whether these could run together, and displace nothing that cannot leave."""
        stuck = self.stuck_beside(together)
        size = sum(client.memory.swappable for client in together.values())
        return not stuck or size + stuck <= self.room

    def stuck_beside(self, running: Container[int]) -> int:
        """Bytes of all others that could not leave if these ran."""
        return sum(stuck for _, stuck in self.stuck_of_others(running))

    def stuck_of_others(self, running: Container[int]) -> Iterator[tuple[Client, int]]:
        """Say whose bytes those are."""
        if self.host.is_tight:
            allowance = self.host.allowance()
            for client in sorted(self.clients.values(), key=attrgetter("id")):
                stays = 0 if client.id in running else client.inside
                if stays and (stuck := stays - allowance.take(client, stays)):
                    yield client, stuck

    def add(self, client: Client, step: Step, now: float) -> None:
        """Take a new client in."""
        known = self.clients.get(client.id, client)
        next_state(client.id, known.state, step)
        client.weight = self.regime.weigh(client)
        self.host.welcome(client)
        self.clients[client.id] = client
        self._note_kind(client)
        if client.park is not None:
            self.parked[client.id] = client
        client.standing = client.usual_standing
        self.move(client, step, now)
        if client.limits != NO_LIMITS:
            self.set_limits(client, client.limits)

    def restore(self, clients: Iterable[Client]) -> None:
        """Take clients of a snapshot in, in the order in which they came to their states."""
        for client in clients:
            self.clients[client.id] = client
            self._note_kind(client)
            self._orders = client.order
            self.set_excess(client, client.excess)
            self._enter(client)
            self.set_rest_asked(client, client.rest_asked_at, client.rest_seconds)
            if client.park is not None:
                self.parked[client.id] = client
            if client.has_share:
                self.with_share[client.id] = client
            if client.active:
                self.active[client.id] = client
            self.set_missing(client, client.missing, client.told_missing)
            self.await_room(client, client.awaits_room)
            if client.grown:
                self.grown[client.id] = client

    def move(self, client: Client, step: Step, now: float) -> None:
        """Let a client take a step. An illegal one raises before anything has changed."""
        state = next_state(client.id, client.state, step)
        if state is client.state:
            return
        self._leave(client)
        self.company_changed |= client.active and not self.regime.is_sliced
        client.state, client.since = state, now
        self._orders += 1
        client.order = self._orders
        if state in (State.WAITING, State.IDLE):
            client.standing = client.usual_standing
            client.offered = client.unused = 0
        if state is State.WAITING:
            client.rank = self.policy.rank(client)
        self._enter(client)
        self._lay_off(client)

    def ask(self, client: Client, now: float) -> None:
        """Note that a client was asked to give way when idle."""
        self.move(client, Step.ASK, now)
        client.asked = True
        self.set_rest_asked(client, None)
        self.asked[client.id] = client

    def keep(self, client: Client, now: float) -> None:
        """Note that this was taken back."""
        self.move(client, Step.KEEP, now)
        client.asked = False
        del self.asked[client.id]

    def set_rest_asked(self, client: Client, now: float | None, seconds: float = 0.0) -> None:
        """Note that a client was asked to give its turn up after a long rest, or not any more."""
        client.rest_asked_at, client.rest_seconds = now, seconds
        self.resting.pop(client.id, None)
        if now is not None:
            self.resting[client.id] = client

    def go_on_without(self, client: Client) -> None:
        """Stop counting with a client that does not give way.

        The driver pages it out as others touch their memory, as far as it may leave.
        """
        pushed = self.host.allowance().take(client, client.staying)
        self._leave(client)
        client.overdue = True
        self._enter(client)
        self.set_evicting(client, client.leaving + pushed)

    def set_memory(self, client: Client, memory: Memory) -> None:
        """Note what a client has now."""
        memory = memory.as_kind(client.kind)
        if memory == client.memory:
            return
        gained = memory.swappable - client.memory.swappable
        client.growing |= gained > 0
        if client.state is State.RUNNING or gained < 0:
            self._note_growth(client, gained)
        self._count(client, -1)
        # Pages go when memory is freed, and only then.
        freed = max(0, client.memory.kept - memory.kept)
        client.memory = memory
        client.outbound = min(client.outbound, memory.swapped)
        client.most_out = min(max(client.most_out - freed, memory.kept), memory.swappable)
        client.surely_out = min(max(0, client.surely_out - freed), client.most_out)
        client.weight = self.regime.weigh(client)
        self._count(client, 1)

    def set_kind(self, client: Client, kind: Kind) -> None:
        """Note that a client makes its allocations in another way."""
        self._count(client, -1)
        client.kind = kind
        self._count(client, 1)
        self._note_kind(client)
        # What can be moved may be another part of it now.
        self.set_memory(client, client.memory)

    def _note_kind(self, client: Client) -> None:
        self.copied.pop(client.id, None)
        if client.kind.is_copied:
            self.copied[client.id] = client

    def deny_host(self, client: Client) -> None:
        """Note that nothing is kept for a client beyond what it says, or has out."""
        self._count(client, -1)
        client.most_out = min(client.most_out, max(client.memory.kept, client.hosted))
        client.surely_out = min(client.surely_out, client.most_out)
        client.provided = min(client.provided, client.most_out)
        self._count(client, 1)

    def note_out(self, client: Client, out: int) -> None:
        """Note that so much of a client's memory is, or will have been, on the host."""
        most = min(max(client.most_out, out), client.memory.swappable)
        if most == client.most_out:
            return
        self._count(client, -1)
        client.most_out = most
        self._count(client, 1)

    def note_surely_out(self, client: Client, out: int) -> None:
        """Note that so much of it was there at one time, as it says."""
        client.surely_out = min(max(client.surely_out, out), client.most_out)

    def forget_growth(self, clients: Iterable[Client]) -> None:
        """Take it that there is room for what these have gained."""
        for client in clients:
            client.grown = 0
            self.grown.pop(client.id, None)

    def _note_growth(self, client: Client, gained: int) -> None:
        """What it gives back, it has not gained."""
        client.grown = max(0, client.grown + gained)
        self.grown.pop(client.id, None)
        if client.grown:
            self.grown[client.id] = client

    def set_limits(self, client: Client, limits: Limits) -> None:
        """Note what a client may use, which it has to be told."""
        self._count(client, -1)
        client.limits = limits
        self._count(client, 1)
        self.set_standing(client, client.usual_standing)
        self.untold[client.id] = client
        self.with_share.pop(client.id, None)
        self.company_changed = True
        if client.has_share:
            self.with_share[client.id] = client

    def set_standing(self, client: Client, standing: int) -> None:
        """Let a client go before others, or not any more."""
        self._dequeue(client)
        client.standing = standing
        self._enqueue(client)

    def set_park(self, client: Client, park: Park | None, now: float) -> None:
        """Note that all of a client's memory is to be on the host, or not any more."""
        self._count(client, -1)
        self._dequeue(client)
        was_barred = client.is_barred
        client.park, client.parked_at, client.evict_again = park, now, 0.0
        self.parked.pop(client.id, None)
        if park is not None:
            self.parked[client.id] = client
        if was_barred and not client.is_barred:
            # Only from now on does it wait for others.
            client.since, client.rank = now, self.policy.rank(client)
            self._orders += 1
            client.order = self._orders
        self._enqueue(client)
        self._count(client, 1)
        self._lay_off(client)

    def _lay_off(self, client: Client) -> None:
        """Take it that who is parked, and has no turn, computes nothing."""
        if client.is_away:
            self.set_busy(client, False)
            self.set_active(client, False)

    def _enqueue(self, client: Client) -> None:
        if client.is_barred:
            self.barred[client.id] = client
        elif client.state is State.WAITING:
            self.waiting.add(client)

    def _dequeue(self, client: Client) -> None:
        if client.is_barred:
            del self.barred[client.id]
        elif client.state is State.WAITING:
            self.waiting.remove(client)

    def set_busy(self, client: Client, busy: bool) -> None:
        """Note whether a client computes all the time."""
        if busy == client.busy:
            return
        self.company_changed = True
        self._count(client, -1)
        client.busy = busy
        client.weight = self.regime.weigh(client)
        self._count(client, 1)

    def set_active(self, client: Client, active: bool) -> None:
        """Note whether a client has work on the device."""
        if active == client.active:
            return
        client.active = active
        self.active.pop(client.id, None)
        if active:
            self.active[client.id] = client
        self.company_changed = True

    def set_unused(self, client: Client, unused: int) -> None:
        """Note how much a client has gained, and gives way before it has used it."""
        self._count(client, -1)
        client.unused = unused
        self._count(client, 1)

    def set_evicting(self, client: Client, evicting: int) -> None:
        """Note how much a client is moving out by order."""
        if evicting == client.evicting:
            return
        self._count(client, -1)
        client.evicting = evicting
        self._count(client, 1)

    def set_outbound(self, client: Client, outbound: int) -> None:
        """Note how much of what counts as swapped has not left yet. Who runs has it in."""
        outbound = 0 if client.holds else max(0, min(outbound, client.memory.swapped))
        if outbound == client.outbound:
            return
        self._count(client, -1)
        client.outbound = outbound
        self._count(client, 1)

    def set_missing(self, client: Client, missing: int, told: int) -> None:
        """Note for how much of what a client brings in room is missing, and what it knows of it."""
        client.missing, client.told_missing = missing, told
        self.cramped.pop(client.id, None)
        if missing or told:
            self.cramped[client.id] = client

    def await_room(self, client: Client, ticket: int) -> None:
        """Note that a client waits for room for its context, or with 0 that it does not."""
        client.awaits_room = ticket
        self.newcomers.pop(client.id, None)
        if ticket:
            self.newcomers[client.id] = client

    def offer(self, client: Client, offered: int) -> None:
        """Note how much a client may move out by itself in this turn."""
        if offered > client.offered:
            self._count(client, -1)
            client.offered = offered
            self._count(client, 1)

    def set_trims(self, client: Client, trims: int) -> None:
        """Note how much is out in a client's turn, being beyond its limit."""
        if trims != client.trims:
            self._count(client, -1)
            client.trims = trims
            self._count(client, 1)

    def set_excess(self, client: Client, excess: int) -> None:
        """Note how much of its memory is beyond its limit."""
        client.excess = excess
        if excess:
            self.over[client.id] = client
        else:
            self.over.pop(client.id, None)

    def set_filled(self, client: Client, filled: int | None) -> None:
        """Note how much of its memory a client has in while it holds its turn."""
        if filled == client.filled:
            return
        self._count(client, -1)
        client.filled = filled
        self._count(client, 1)

    def set_regime(self, regime: "Regime") -> None:
        """Weigh everybody by other rules."""
        for client in self.clients.values():
            self._count(client, -1)
        self.regime, self._state.regime = regime, regime.name
        self.company_changed = True
        for client in self.clients.values():
            client.weight = regime.weigh(client)
            self._count(client, 1)

    def set_policy(self, policy: Policy) -> None:
        """Put those who wait in the order of another policy."""
        self.policy = policy
        clients, self.waiting = list(self.waiting), Queue()
        for client in clients:
            client.rank = policy.rank(client)
            self.waiting.add(client)

    def _enter(self, client: Client) -> None:
        if client.state is State.GONE:
            del self.clients[client.id]
            self.copied.pop(client.id, None)
            self.parked.pop(client.id, None)
            self.with_share.pop(client.id, None)
            self.untold.pop(client.id, None)
            self.over.pop(client.id, None)
            self.active.pop(client.id, None)
            self.grown.pop(client.id, None)
            self.newcomers.pop(client.id, None)
            self.host.forget(client)
        elif client.state is State.WAITING:
            self._enqueue(client)
        else:
            self._set_of(client)[client.id] = client
            if client.asked:
                self.asked[client.id] = client
        self._count(client, 1)

    def _leave(self, client: Client) -> None:
        self._count(client, -1)
        if client.state is State.WAITING:
            self._dequeue(client)
        elif client.state is not State.GONE:
            del self._set_of(client)[client.id]
            self.asked.pop(client.id, None)
        client.asked = client.overdue = False
        self.set_rest_asked(client, None)
        self.set_missing(client, 0, 0)

    def _set_of(self, client: Client) -> dict[int, Client]:
        if client.overdue:
            return self.overdue
        if client.state is State.RUNNING:
            return self.running
        return self.yielding if client.state is State.YIELDING else self.idle

    def _count(self, client: Client, sign: int) -> None:
        if client.state is State.GONE:
            return
        self.host.count(client, sign)
        self.everyone_load.add(self._claim(client), sign)
        self._count_class(client, sign)
        self.pinned += sign * client.memory.pinned
        self.swappable += sign * client.memory.swappable
        self.outbound_bytes += sign * client.outbound
        self.busy += sign * client.busy
        if client.state is State.RUNNING:
            self.running_load.add(client.weight, sign)
            self.running_bytes += sign * client.present
        elif client.state is State.YIELDING:
            # Who is overdue is not counted with; the driver pages it out.
            if not client.overdue:
                self.yielding_load.add(client.weight, sign)
                self.yielding_bytes += sign * client.inside
                self.leaving_bytes += sign * client.leaving
        else:
            self._count_closed(client, sign)

    def _claim(self, client: Client) -> int:
        """Return what of the capacity is not for others, whether a client runs or not."""
        return self.regime.claim(client) if client.is_away else client.weight

    def _count_class(self, client: Client, sign: int) -> None:
        if not client.is_away:
            self.classes[client.limits.priority] += sign
            if not self.classes[client.limits.priority]:
                del self.classes[client.limits.priority]

    def _count_closed(self, client: Client, sign: int) -> None:
        self.closed_bytes += sign * client.staying
        self.leaving_bytes += sign * client.leaving
        if client.park is not None:
            self.parked_away += sign * (client.memory.swappable - client.staying)
        if client.state is State.WAITING and not client.is_barred:
            self.waiting_load.add(client.weight, sign)
        if sign > 0 and client.staying:
            self.closed[client.id] = client
        else:
            self.closed.pop(client.id, None)
