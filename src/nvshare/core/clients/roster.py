"""The clients of one device: every change of what is known of one of them. Decides nothing.

Each method changes a client's record and has the table count it anew (clients/counts.py). The first
ones are steps from one state to another (core/lease.py). The others are notes about a client in its
state: what it was told, its memory, and how it computes.
"""

from collections.abc import Iterable

from nvshare.core.clients.counts import Counts
from nvshare.core.clients.host_room import HostRoom
from nvshare.core.lease import State, Step, next_state
from nvshare.core.memory import Kind, Memory
from nvshare.core.policies import Policy
from nvshare.core.record.client import Client, Park
from nvshare.core.record.device import DeviceState
from nvshare.core.record.gang import HoldStage
from nvshare.core.record.precedence import Precedence
from nvshare.core.record.use import half_life_of
from nvshare.core.regimes.regime import Regime
from nvshare.core.settings import NO_LIMITS, Limits


class Roster(Counts):
    """The clients of a device by state."""

    def __init__(
        self,
        state: DeviceState,
        policy: Policy,
        regime: Regime,
        host: HostRoom | None = None,
    ) -> None:
        super().__init__(state, host or HostRoom(), regime)
        self.policy = policy
        self._orders = 0

    @property
    def usual_turn(self) -> float:
        """The usual length of a turn here."""
        return self.regime.usual_turn(self.state.settings, has_shares=bool(self.with_share))

    def add(self, client: Client, step: Step, now: float) -> None:
        """Take a new client in."""
        known = self.clients.get(client.id, client)
        next_state(client.id, known.state, step)
        self.host.welcome(client)
        if client.limits != NO_LIMITS:
            client.untold = True
            self.neighbours_changed = True
        self.move(client, step, now)

    def load(self, clients: Iterable[Client]) -> None:
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
            client.precedence.queue(self.rank_of(client))
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

    def set_place(self, client: Client, like: Precedence) -> None:
        """Give a waiting client the place of another client of its gang."""
        client.precedence.queue_like(like)
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
        client.precedence.queue(self.rank_of(client))
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
        if client.precedence.bursts if bursts is None else bursts:
            return client.precedence.use.rank(half_life_of(settings.turn_min))
        return self.policy.rank(client, settings, self.usual_turn)

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
            client.precedence.queue(self.rank_of(client))
            self._orders += 1
            client.order = self._orders
        self.note(client)
        self._lay_off(client)

    def _lay_off(self, client: Client) -> None:
        """Note that a parked client without a turn computes nothing."""
        if client.is_away:
            self.set_busy(client, False)
            self.set_active(client, False)

    def set_regime(self, regime: Regime) -> None:
        """Weigh all clients by the rules of another regime."""
        self.regime, self.state.regime = regime, regime.name
        self.neighbours_changed = True
        for client in self.clients.values():
            self.note(client)

    def set_policy(self, policy: Policy) -> None:
        """Put the waiting clients in the order of another policy."""
        self.policy = policy
        for client in list(self.waiting):
            client.precedence.queue(self.rank_of(client))
            self.note(client)

    def set_memory(self, client: Client, memory: Memory) -> None:
        """Note a client's present memory."""
        memory = memory.as_kind(client.kind)
        if memory == client.memory:
            return
        gained = memory.swappable - client.memory.swappable
        client.growth.change(gained, in_turn=client.state is State.RUNNING)
        # Host pages go only when memory is freed.
        freed = max(0, client.memory.kept - memory.kept)
        client.memory = memory
        client.moving.note_outbound(min(client.moving.outbound, memory.swapped))
        client.host_pages.free(freed, memory.kept, memory.swappable)
        self.note(client)

    def set_kind(self, client: Client, kind: Kind) -> None:
        """Note that a client uses another allocation kind."""
        client.kind = kind
        self.note(client)
        # Another part of it may be swappable now.
        self.set_memory(client, client.memory)

    def deny_host(self, client: Client) -> None:
        """Note that nothing is kept for a client beyond what it reports, or has out."""
        client.host_pages.deny(max(client.memory.kept, client.hosted))
        self.note(client)

    def note_out(self, client: Client, out: int) -> None:
        """Note that ``out`` bytes of a client are, or will have been, on the host."""
        most = min(max(client.host_pages.most_out, out), client.memory.swappable)
        if most == client.host_pages.most_out:
            return
        client.host_pages.note_out(most)
        self.note(client)

    def note_surely_out(self, client: Client, out: int) -> None:
        """Note that ``out`` bytes were on the host at one time, by the client's report."""
        client.host_pages.note_surely_out(out)

    def forget_growth(self, clients: Iterable[Client]) -> None:
        """Note that there is room for the memory that these have gained."""
        for client in clients:
            client.growth.fit()
            self.note(client)

    def set_busy(self, client: Client, busy: bool) -> None:
        """Note whether a client computes all the time."""
        if busy == client.work.busy:
            return
        self.neighbours_changed = True
        client.work.note_busy(busy=busy)
        self.note(client)

    def set_undrained(self, client: Client, undrained: bool) -> None:
        """Note whether a client cannot give way, and so is not told to."""
        if undrained:
            self.set_busy(client, False)
        self.neighbours_changed = True
        client.drain.note_undrained(undrained=undrained)
        self.note(client)

    def set_active(self, client: Client, active: bool) -> None:
        """Note whether a client has work on the device."""
        if active == client.work.active:
            return
        client.work.note_active(active=active)
        self.neighbours_changed = True
        self.note(client)

    def set_unused(self, client: Client, unused: int) -> None:
        """Note how much gained memory a client has not used when it is told to give way."""
        client.growth.leave_unused(unused)
        self.note(client)

    def set_evicting(self, client: Client, evicting: int) -> None:
        """Note how much a client is moving out by order."""
        if evicting == client.moving.evicting:
            return
        client.moving.order(evicting)
        self.note(client)

    def set_outbound(self, client: Client, outbound: int) -> None:
        """Note how much swapped memory has not left yet. A holder of a turn has it in."""
        outbound = 0 if client.has_turn else max(0, min(outbound, client.memory.swapped))
        if outbound == client.moving.outbound:
            return
        client.moving.note_outbound(outbound)
        self.note(client)

    def set_missing(self, client: Client, missing: int, told: int) -> None:
        """Note how much of a client's incoming memory has no room, and what it was told of that."""
        before = client.moving.lacks_room
        client.moving.lack(missing, told)
        # What it lacks changes often; only whether it lacks any is counted.
        if client.moving.lacks_room is not before:
            self.note(client)

    def await_room(self, client: Client, ticket: int) -> None:
        """Note that a client waits for room for its context, or with 0 that it does not."""
        client.moving.await_room(ticket)
        self.note(client)

    def offer(self, client: Client, offered: int) -> None:
        """Note how much a client may move out by itself in this turn."""
        if offered > client.moving.offered:
            client.moving.offer(offered)
            self.note(client)

    def set_trims(self, client: Client, trims: int) -> None:
        """Note how much memory beyond its limit a client has out in its turn."""
        if trims != client.excess.trims:
            client.excess.note_trims(trims)
            self.note(client)

    def set_over_limit(self, client: Client, excess: int) -> None:
        """Note how much of a client's memory is beyond its limit."""
        client.excess.note(excess)
        self.note(client)

    def set_filled(self, client: Client, filled: int | None) -> None:
        """Note how much of its memory a client has in while it holds its turn."""
        if filled == client.moving.filled:
            return
        client.moving.fill(filled)
        self.note(client)
