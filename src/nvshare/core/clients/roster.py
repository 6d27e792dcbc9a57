"""The clients of one device by state: the steps between states, and the queue.

A roster has four layers, each in its file, which use only the layers below them:

    clients/roster.py    steps, and the queue of waiting clients
    clients/notes.py     notes about a client in its state
    clients/fits.py   which clients fit together
    clients/sums.py      the sets of clients, and the sums over them

It keeps count, and decides nothing.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

from nvshare.core.clients.host_room import HostRoom
from nvshare.core.clients.notes import Notes
from nvshare.core.lease import State, Step, next_state
from nvshare.core.policies import Policy
from nvshare.core.record.client import Client, Hold, Park
from nvshare.core.record.device import DeviceState
from nvshare.core.record.use import half_life_of
from nvshare.core.settings import NO_LIMITS, Limits

if TYPE_CHECKING:
    from nvshare.core.regimes import Regime

_place = attrgetter("place")


class Queue:
    """The waiting clients, in the order of their places: visitors before the others."""

    def __init__(self) -> None:
        self._visitors: list[Client] = []
        self._steady: list[Client] = []

    def __len__(self) -> int:
        return len(self._visitors) + len(self._steady)

    def __iter__(self) -> Iterator[Client]:
        return chain(self._visitors, self._steady)

    def __reversed__(self) -> Iterator[Client]:
        return chain(reversed(self._steady), reversed(self._visitors))

    def steady(self) -> Iterator[Client]:
        """Return those that compute all the time."""
        return iter(self._steady)

    def add(self, client: Client) -> None:
        """Put a client in its place."""
        insort(self._of(client), client, key=_place)

    def remove(self, client: Client) -> None:
        """Take a client out."""
        clients = self._of(client)
        del clients[bisect_left(clients, _place(client), key=_place)]

    def first(self) -> Client | None:
        """Return the client that is next."""
        return next(iter(self), None)

    def _of(self, client: Client) -> list[Client]:
        return self._visitors if client.bursts else self._steady


class Roster(Notes):
    """The clients of a device by state."""

    def __init__(
        self,
        state: DeviceState,
        policy: Policy,
        regime: "Regime",
        host: HostRoom | None = None,
    ) -> None:
        super().__init__(state, regime, host)
        self.policy = policy
        self.waiting = Queue()
        # Waiting too, but parked by hand.
        self.barred: dict[int, Client] = {}
        self._orders = 0

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
        self.move(client, step, now)
        if client.limits != NO_LIMITS:
            self.set_limits(client, client.limits)

    def restore(self, clients: Iterable[Client]) -> None:
        """Take in the clients of a snapshot, in the order in which they came to their states."""
        for client in clients:
            self.clients[client.id] = client
            self._note_kind(client)
            self._orders = client.order
            self.set_over_limit(client, client.over_limit)
            self._enter(client)
            self.set_rest_asked(client, client.rest_asked_at, client.rest_seconds)
            if client.park is not None:
                self.parked[client.id] = client
            if client.has_share:
                self.with_share[client.id] = client
            if client.active:
                self.active[client.id] = client
            if client.undrained:
                self.undrained[client.id] = client
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
        self.neighbours_changed |= client.active and not self.regime.is_sliced
        client.state, client.since = state, now
        self._orders += 1
        client.order = self._orders
        if state in (State.WAITING, State.IDLE):
            client.offered = client.unused = 0
            client.rests = False
        if state is State.WAITING:
            client.rank = self.rank_of(client)
        client.hold, client.hold_waits, client.stalled = None, False, False
        self._enter(client)
        self._lay_off(client)

    def ask(self, client: Client, now: float) -> None:
        """Note that a client was asked to give way when idle."""
        self.move(client, Step.ASK, now)
        client.soft_revoked = True
        self.set_rest_asked(client, None)
        self.soft_revoked[client.id] = client

    def keep(self, client: Client, now: float) -> None:
        """Note that the soft revoke was taken back."""
        self.move(client, Step.KEEP, now)
        client.soft_revoked = False
        del self.soft_revoked[client.id]

    def tell_to_go(self, client: Client, now: float) -> None:
        """Note that a client was told to give its turn up or, in a gang, to hold."""
        if client.gang is None:
            self.move(client, Step.REVOKE, now)
            return
        self.move(client, Step.HOLD, now)
        # A resting client has nothing in flight.
        client.hold = Hold.HELD if client.rests else Hold.TOLD
        client.hold_since, client.hold_waits = now, client.wants
        client.stepped_at = 0.0
        client.room_asked_at, client.awaits_ranks = None, False

    def let_go(self, client: Client, now: float) -> None:
        """Note that a held client was told to give its turn up now."""
        self._leave(client)
        self._orders += 1
        client.hold, client.since, client.order = None, now, self._orders
        self._enter(client)

    def set_gang(self, client: Client, gang: int | None, *, rides: bool) -> None:
        """Note which gang a client is in, and whether another member counts for both."""
        self._count(client, -1)
        self._dequeue(client)
        client.gang, client.rides = gang, rides
        client.weight = self.regime.weigh(client)
        self._enqueue(client)
        self._count(client, 1)

    def set_place(self, client: Client, like: Client) -> None:
        """Give a waiting client the place of another client of its gang."""
        self._dequeue(client)
        client.rank, client.visits, client.bursts = like.rank, like.visits, like.bursts
        client.interrupted = like.interrupted
        self._enqueue(client)

    def party(self, client: Client) -> list[Client]:
        """Return the clients that wait here and can only run together: a client and its gang."""
        if client.gang is None:
            return [client]
        return [one for one in self.waiting if one.gang == client.gang]

    def set_rest_asked(self, client: Client, now: float | None, seconds: float = 0.0) -> None:
        """Note when a client was asked to give its turn up after a long rest. None: it is not."""
        client.rest_asked_at, client.rest_seconds = now, seconds
        self.resting.pop(client.id, None)
        if now is not None:
            self.resting[client.id] = client

    def go_on_without(self, client: Client) -> None:
        """Stop counting a client that does not give way.

        The driver pages it out as others touch their memory, as far as it may leave.
        """
        pushed = self.host.allowance().take(client, client.staying)
        self._leave(client)
        client.overdue = True
        self._enter(client)
        self.set_evicting(client, client.leaving + pushed)

    def set_limits(self, client: Client, limits: Limits) -> None:
        """Note new limits of a client, which it has to be told."""
        self._count(client, -1)
        client.limits = limits
        self._count(client, 1)
        self.rank_again(client)
        self.untold[client.id] = client
        self.with_share.pop(client.id, None)
        self.neighbours_changed = True
        if client.has_share:
            self.with_share[client.id] = client

    def rank_of(self, client: Client, *, bursts: bool | None = None) -> float:
        """Return a client's rank among the visitors, or among the others, if it waits."""
        settings = self._state.settings
        if client.bursts if bursts is None else bursts:
            return client.use.rank(half_life_of(settings.turn_min))
        return self.policy.rank(client, settings, self.regime.usual_turn(settings, self))

    def rank_again(self, client: Client) -> None:
        """Give a client its place again if it waits: its priority or its use has changed."""
        self._dequeue(client)
        client.rank = self.rank_of(client)
        self._enqueue(client)

    def set_park(self, client: Client, park: Park | None, now: float) -> None:
        """Note why a client is parked, or with None that it is not."""
        self._count(client, -1)
        self._dequeue(client)
        was_barred = client.is_barred
        client.park, client.parked_at, client.evict_again = park, now, 0.0
        self.parked.pop(client.id, None)
        if park is not None:
            self.parked[client.id] = client
        if was_barred and not client.is_barred:
            # It waits for other clients only from now on.
            client.since = now
            client.rank = self.rank_of(client)
            self._orders += 1
            client.order = self._orders
        self._enqueue(client)
        self._count(client, 1)
        self._lay_off(client)

    def _lay_off(self, client: Client) -> None:
        """Note that a parked client without a turn computes nothing."""
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

    def set_regime(self, regime: "Regime") -> None:
        """Weigh all clients by the rules of another regime."""
        for client in self.clients.values():
            self._count(client, -1)
        self.regime, self._state.regime = regime, regime.name
        self.neighbours_changed = True
        for client in self.clients.values():
            client.weight = regime.weigh(client)
            self._count(client, 1)

    def set_policy(self, policy: Policy) -> None:
        """Put the waiting clients in the order of another policy."""
        self.policy = policy
        clients, self.waiting = list(self.waiting), Queue()
        for client in clients:
            client.rank = self.rank_of(client)
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
            if client.soft_revoked:
                self.soft_revoked[client.id] = client
        self._count(client, 1)

    def _leave(self, client: Client) -> None:
        self._count(client, -1)
        if client.state is State.WAITING:
            self._dequeue(client)
        elif client.state is not State.GONE:
            del self._set_of(client)[client.id]
            self.soft_revoked.pop(client.id, None)
        client.soft_revoked = client.overdue = False
        if client.undrained:
            del self.undrained[client.id]
            client.undrained = False
            client.weight = self.regime.weigh(client)
        self.set_rest_asked(client, None)
        self.set_missing(client, 0, 0)

    def _set_of(self, client: Client) -> dict[int, Client]:
        if client.overdue:
            return self.overdue
        if client.state is State.RUNNING:
            return self.running
        return self.yielding if client.state is State.YIELDING else self.idle
