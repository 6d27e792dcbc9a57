"""The clients of one device by state: the steps between states.

A roster has four layers, each in its file, which use only the layers below them:

    clients/roster.py    steps
    clients/notes.py     notes about a client in its state
    clients/fits.py      which clients fit together
    clients/counts.py    the sets of clients, and the sums over them

It keeps count, and decides nothing.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from nvshare.core.clients.host_room import HostRoom
from nvshare.core.clients.notes import Notes
from nvshare.core.lease import State, Step, next_state
from nvshare.core.policies import Policy
from nvshare.core.record.client import Client, Park
from nvshare.core.record.device import DeviceState
from nvshare.core.record.gang import HoldStage
from nvshare.core.record.standing import Standing
from nvshare.core.record.use import half_life_of
from nvshare.core.settings import NO_LIMITS, Limits

if TYPE_CHECKING:
    from nvshare.core.regimes import Regime


class Roster(Notes):
    """The clients of a device by state."""

    def __init__(
        self,
        state: DeviceState,
        policy: Policy,
        regime: "Regime",
        host: HostRoom | None = None,
    ) -> None:
        super().__init__(host or HostRoom(), regime)
        self.state = state
        self.policy = policy
        self._orders = 0

    def add(self, client: Client, step: Step, now: float) -> None:
        """Take a new client in."""
        known = self.clients.get(client.id, client)
        next_state(client.id, known.state, step)
        self.host.welcome(client)
        if client.limits != NO_LIMITS:
            client.untold = True
            self.neighbours_changed = True
        self.move(client, step, now)

    def restore(self, clients: Iterable[Client]) -> None:
        """Take in the clients of a snapshot, in the order in which they came to their states."""
        for client in clients:
            self._orders = client.order
            self.note(client)

    def move(self, client: Client, step: Step, now: float) -> None:
        """Let a client take a step. An illegal one raises before anything has changed."""
        state = next_state(client.id, client.state, step)
        if state is client.state:
            return
        self.neighbours_changed |= client.work.active and not self.regime.is_sliced
        self._enter(client, state, now)
        if state in (State.WAITING, State.IDLE):
            client.moving.offer(0)
            client.growth.leave_unused(0)
            client.gang.end_rest()
        if state is State.WAITING:
            client.standing.queue(self.rank_of(client))
        client.hold.end()
        client.gang.note_stalled(stalled=False)
        self.note(client)
        self._lay_off(client)

    def _enter(self, client: Client, state: State, now: float) -> None:
        """Put a client last in a state. What it was told in the one before is void."""
        self._orders += 1
        client.state, client.since, client.order = state, now, self._orders
        client.turn.forget_orders()
        client.drain.note_undrained(undrained=False)
        client.rest.ask(None)
        client.moving.lack(0, 0)

    def ask(self, client: Client, now: float) -> None:
        """Note that a client was asked to give way when idle."""
        self.move(client, Step.ASK, now)
        client.turn.ask()
        self.set_rest_asked(client, None)

    def keep(self, client: Client, now: float) -> None:
        """Note that the soft revoke was taken back."""
        self.move(client, Step.KEEP, now)
        client.turn.forget_orders()
        self.note(client)

    def tell_to_go(self, client: Client, now: float) -> None:
        """Note that a client was told to give its turn up or, in a gang, to hold."""
        if not client.in_gang:
            self.move(client, Step.REVOKE, now)
            return
        self.move(client, Step.HOLD, now)
        # A resting client has nothing in flight.
        stage = HoldStage.HELD if client.gang.rests else HoldStage.TOLD
        client.hold.begin(now, stage, waits=client.turn.wants)

    def let_go(self, client: Client, now: float) -> None:
        """Note that a held client was told to give its turn up now."""
        self._enter(client, client.state, now)
        client.hold.end()
        self.note(client)

    def set_gang(self, client: Client, gang: int | None, *, rides: bool) -> None:
        """Note which gang a client is in, and whether another member counts for both."""
        client.gang.enter(gang, rides=rides)
        self.note(client)

    def set_place(self, client: Client, like: Standing) -> None:
        """Give a waiting client the place of another client of its gang."""
        client.standing.queue_like(like)
        self.note(client)

    def party(self, client: Client) -> list[Client]:
        """Return the clients that wait here and can only run together: a client and its gang."""
        if not client.in_gang:
            return [client]
        return [one for one in self.waiting if one.gang.number == client.gang.number]

    def set_rest_asked(self, client: Client, now: float | None, seconds: float = 0.0) -> None:
        """Note when a client was asked to give its turn up after a long rest. None: it is not."""
        client.rest.ask(now, seconds)
        self.note(client)

    def go_on_without(self, client: Client) -> None:
        """Stop counting a client that does not give way.

        The driver pages it out as others touch their memory, as far as it may leave.
        """
        pushed = self.host.allowance().take(client, client.staying)
        client.turn.go_on_without()
        client.drain.note_undrained(undrained=False)
        client.rest.ask(None)
        client.moving.lack(0, 0)
        client.moving.order(client.leaving + pushed)
        self.note(client)

    def set_limits(self, client: Client, limits: Limits) -> None:
        """Note new limits of a client, which it has to be told."""
        client.limits, client.untold = limits, True
        client.standing.queue(self.rank_of(client))
        self.neighbours_changed = True
        self.note(client)

    def note_told(self, client: Client) -> None:
        """Note that a client was told its limits."""
        if client.untold:
            client.untold = False
            self.note(client)

    def rank_of(self, client: Client, *, bursts: bool | None = None) -> float:
        """Return a client's rank among the visitors, or among the others, if it waits."""
        settings = self.state.settings
        if client.standing.bursts if bursts is None else bursts:
            return client.standing.use.rank(half_life_of(settings.turn_min))
        return self.policy.rank(client, settings, self.regime.usual_turn(settings, self))

    def wait_anew(self, clients: Iterable[Client], now: float) -> None:
        """Note that the patience with clients that were told to give way begins only now."""
        for client in clients:
            client.since = now

    def set_park(self, client: Client, park: Park | None, now: float) -> None:
        """Note why a client is parked, or with None that it is not."""
        was_barred = client.is_barred
        client.park, client.parked_at = park, now
        client.moving.wait(0.0)
        if was_barred and not client.is_barred:
            # It waits for other clients only from now on.
            client.since = now
            client.standing.queue(self.rank_of(client))
            self._orders += 1
            client.order = self._orders
        self.note(client)
        self._lay_off(client)

    def _lay_off(self, client: Client) -> None:
        """Note that a parked client without a turn computes nothing."""
        if client.is_away:
            self.set_busy(client, False)
            self.set_active(client, False)

    def set_regime(self, regime: "Regime") -> None:
        """Weigh all clients by the rules of another regime."""
        self.regime, self.state.regime = regime, regime.name
        self.neighbours_changed = True
        for client in self.clients.values():
            self.note(client)

    def set_policy(self, policy: Policy) -> None:
        """Put the waiting clients in the order of another policy."""
        self.policy = policy
        for client in list(self.waiting):
            client.standing.queue(self.rank_of(client))
            self.note(client)
