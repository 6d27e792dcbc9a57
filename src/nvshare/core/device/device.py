"""One GPU: notes the events of its clients, then has the invariants restored.

A handler only notes an event. What is to be done about any event, the rules say (device/rules.py).
"""

from nvshare.core.clients.host_room import HostRoom
from nvshare.core.clients.join import new_client
from nvshare.core.clients.roster import Roster
from nvshare.core.device.rules import restore
from nvshare.core.effects import Answer, Effect
from nvshare.core.events import (
    CanDrain,
    CannotDrain,
    ClientEvent,
    ClientJoined,
    ClientLeft,
    DeviceAdded,
    Event,
    Given,
    Held,
    HostDenied,
    KindChanged,
    LimitsChanged,
    MemoryChanged,
    Moved,
    OutsideChanged,
    OverLimitChanged,
    ParkChanged,
    Reason,
    Released,
    SettingsChanged,
    TimerFired,
    Used,
    Wanted,
)
from nvshare.core.host.safe_order import note_gain
from nvshare.core.lease import IllegalTransition, State, Step
from nvshare.core.moves.measure import measure_move
from nvshare.core.moves.reports import note_changed, note_memory, note_moved, note_surely_out
from nvshare.core.policies import find_policy
from nvshare.core.precedence.charge import advance_clock, end_turn, keep_up
from nvshare.core.precedence.inherit import bequeath, inherit
from nvshare.core.precedence.interrupt import come
from nvshare.core.record.client import Client, Park
from nvshare.core.record.device import DeviceSnapshot, DeviceState
from nvshare.core.record.gang import HoldStage
from nvshare.core.record.pace import Pace
from nvshare.core.regimes import find_regime, first_regime
from nvshare.core.shares.attribution import note_given
from nvshare.core.shares.shares import may_be_back
from nvshare.core.turns.admit import grant
from nvshare.core.turns.park import has_rested
from nvshare.core.turns.revoke import send_away
from nvshare.core.turns.undrained import note_may_drain, note_undrained


class Device:
    """One GPU and its clients."""

    def __init__(self, snapshot: DeviceSnapshot, host: HostRoom | None = None) -> None:
        self.state = snapshot.state.copy()
        policy = find_policy(self.state.settings.policy)
        self.roster = Roster(self.state, policy, find_regime(self.state.regime), host)
        self.roster.load(client.copy() for client in snapshot.clients)
        # The host memory that was left when this device last restored its invariants.
        self.note_host()

    @classmethod
    def added(cls, event: DeviceAdded, host: HostRoom | None = None) -> "Device":
        """Return a device without clients."""
        state = DeviceState(
            id=event.device,
            usable_bytes=event.usable_bytes,
            settings=event.settings,
            regime=first_regime(event.settings.mode),
            pace=Pace(event.settings.initial_bandwidth),
            reconnect_until=event.now + event.reconnect_seconds,
            turn_started=event.now,
            context_bytes=event.context_bytes,
            unasked_bytes=event.unasked_bytes,
        )
        return cls(DeviceSnapshot(state, ()), host)

    @property
    def head(self) -> Client | None:
        """The client that waits for the end of the turn and is next."""
        return self.roster.clients.get(self.state.head) if self.state.head is not None else None

    def snapshot(self) -> DeviceSnapshot:
        """Return a copy of all that the device knows."""
        clients = sorted(self.roster.clients.values(), key=lambda client: client.order)
        return DeviceSnapshot(self.state.copy(), tuple(client.copy() for client in clients))

    def handle(self, event: Event) -> list[Effect]:
        """Take an event and return its effects."""
        return [*self.take_down(event), *self.follow(event)]

    def follow(self, event: Event) -> list[Effect]:
        """Order what follows from an event that was noted."""
        effects = self.restore(event.now)
        if isinstance(event, MemoryChanged) and event.ticket and not event.for_context:
            effects.append(self._answer(event, self._client(event)))
        return effects

    def take_down(self, event: Event) -> list[Effect]:
        """Note an event."""
        advance_clock(self.roster, event.now)
        client = self.roster.clients.get(event.client) if isinstance(event, ClientEvent) else None
        before = client.memory.swappable if client else 0
        effects = self._on(event)
        if client and client.memory.swappable > before:
            note_gain(client, before, event.now)
        return effects

    def restore(self, now: float) -> list[Effect]:
        """Restore the invariants. Events of other devices call for it too: all share the host."""
        advance_clock(self.roster, now)
        effects = restore(self.roster, now)
        self.note_host()
        return effects

    def note_host(self) -> None:
        """Note that the orders given here are right for the host memory that is left now."""
        self._lefts = self.roster.host.lefts

    @property
    def is_stale(self) -> bool:
        """Whether the host memory that is left has changed since the orders given here."""
        return self._lefts != self.roster.host.lefts

    def _answer(self, event: MemoryChanged, client: Client) -> Answer:
        missing = self.roster.missing if client.state is State.RUNNING else 0
        if missing:
            self.roster.set_missing(client, missing, missing)
        return Answer(event.client, event.ticket, missing=missing)

    def _on(self, event: Event) -> list[Effect]:
        match event:
            case Wanted():
                return self._on_wanted(event, self._client(event))
            case Released():
                return self._on_released(event, self._client(event))
            case CannotDrain():
                return self._on_cannot_drain(event, self._client(event))
            case Held():
                self._on_held(event, self._client(event))
            case CanDrain():
                client = self._client(event)
                if event.turn == client.turn.number:
                    note_may_drain(self.roster, client, event.now)
            case MemoryChanged():
                note_changed(self.roster, self._client(event), event)
            case Moved():
                note_moved(self.roster, self._client(event), event)
            case Used():
                self._on_used(event, self._client(event))
            case Given():
                note_given(self.roster, self._client(event), event)
            case TimerFired():
                # restore() sees that time has passed, and sets the timers that are still needed.
                self.state.alarms.pop(event.timer.kind, None)
            case ClientJoined():
                return self._on_joined(event)
            case ClientLeft():
                self._on_left(event, self._client(event))
            case LimitsChanged():
                self.roster.set_limits(self._client(event), event.limits)
            case ParkChanged():
                self._on_park(event, self._client(event))
            case OverLimitChanged():
                client = self._client(event)
                # Copied memory must be on the device as a whole for a turn, whatever the limit is.
                excess = 0 if client.kind.is_copied else event.over_limit
                self.roster.set_over_limit(client, excess)
            case KindChanged():
                self.roster.set_kind(self._client(event), event.kind)
            case HostDenied():
                self.roster.deny_host(self._client(event))
            case SettingsChanged():
                self._on_settings(event)
            case OutsideChanged():
                self.state.outside_bytes = event.outside_bytes
        return []

    def _client(self, event: ClientEvent) -> Client:
        client = self.roster.clients.get(event.client)
        if client is None:
            raise IllegalTransition(event.client, State.GONE, type(event).__name__)
        return client

    def _on_joined(self, event: ClientJoined) -> list[Effect]:
        client = new_client(event)
        if event.running and not self.roster.running:
            self.state.turn_started = event.now
        self.roster.add(client, Step.ADOPT if event.running else Step.JOIN, event.now)
        inherit(self.roster, client)
        # No turn gets a number that the client has seen from an earlier daemon.
        self.state.last_turn = max(self.state.last_turn, event.turn)
        return send_away(self.roster, client, event.now) if event.doubted else []

    def _on_left(self, event: ClientLeft, client: Client) -> None:
        bequeath(self.roster, client)
        self.roster.move(client, Step.LEAVE, event.now)

    def _on_park(self, event: ParkChanged, client: Client) -> None:
        if event.parked != (client.park is Park.BY_HAND):
            self.roster.set_park(client, Park.BY_HAND if event.parked else None, event.now)

    def _on_wanted(self, event: Wanted, client: Client) -> list[Effect]:
        if client.state is State.IDLE:
            client.rest.end(event.now)
        if client.park is Park.IDLE:
            self.roster.set_park(client, None, event.now)
        if client.state is State.IDLE:
            come(self.roster, client, event.now)
            keep_up(self.roster, client)
        self.roster.move(client, Step.WANT, event.now)
        # A client that has seen its turn and finds the gate closed is about to release it.
        if event.turn == (client.turn.number if client.has_turn else client.turn.next):
            client.turn.note_want()
            client.hold.note_want()
        return []

    def _on_released(self, event: Released, client: Client) -> list[Effect]:
        if client.state is State.WAITING and event.turn == client.turn.next:
            # The holder before it has woken it, and the core hears of that after the turn's end.
            grant(self.roster, client, event.now)
        if not client.has_turn or event.turn != client.turn.number:
            raise IllegalTransition(client.id, client.state, f"release of turn {event.turn}")
        measure_move(self.state, client, event.now, event.seconds, out_bytes=event.moved_bytes)
        if client.in_gang and (client.state is State.RUNNING or client.hold.stage is not None):
            self._rest(event, client)
            return []
        self._release(event, client)
        return self._handed_over(event)

    def _on_cannot_drain(self, event: CannotDrain, client: Client) -> list[Effect]:
        if client.state is not State.YIELDING or event.turn != client.turn.number:
            raise IllegalTransition(client.id, client.state, f"going on with turn {event.turn}")
        return note_undrained(self.roster, client, event.now)

    def _on_held(self, event: Held, client: Client) -> None:
        # It may have been told to give way, or to go on, already.
        if (
            client.hold.stage is not None
            and event.turn == client.turn.number
            and not client.gang.rests
        ):
            since = client.hold.since if client.hold.stage is HoldStage.HELD else event.now
            client.hold.drain(since, waits=event.waits or client.turn.wants)

    def _rest(self, event: Released, client: Client) -> None:
        """Keep the place of a client whose gang has not given its turn up (gangs/rest.py)."""
        client.gang.rest()
        if client.drain.undrained:
            self.roster.set_undrained(client, False)
        self._note_rest(event, client, wants=event.wants or client.turn.wants)
        if event.wants:
            client.turn.note_want()
        if client.hold.stage is not None:
            client.hold.drain(event.now, waits=client.turn.wants)

    def end_rest(self, client: Client, now: float) -> None:
        """End the turn of a client that rests in its gang's turn."""
        self._end_turn(client, now, wants=client.turn.wants)

    def _release(self, event: Released, client: Client) -> None:
        wants = event.wants or client.turn.wants
        self._note_rest(event, client, wants=wants)
        if event.reason is Reason.IDLE and has_rested(client, event.now):
            client.rest.begin(client.work.worked_at)
            if client.park is None and not wants:
                self.roster.set_park(client, Park.IDLE, event.now)
        self._end_turn(client, event.now, wants=wants)
        self.roster.set_outbound(client, event.left)
        note_surely_out(self.roster, client, client.hosted, event.left)

    def _note_rest(self, event: Released, client: Client, *, wants: bool) -> None:
        self._count_turn(event, client)
        client.drain.succeed(event.now - client.since if client.state is State.YIELDING else 0.0)
        if not wants and not may_be_back(self.roster, event.reason):
            self.roster.set_busy(client, False)
        note_memory(self.roster, client, event.memory, event.moved_bytes, is_answer=True)
        # When it gave way for being idle, it had rested for as long as it was asked to.
        rested = client.turn.idle_seconds if event.reason is Reason.IDLE else 0.0
        client.rest.begin(event.now - rested)

    def _end_turn(self, client: Client, now: float, *, wants: bool) -> None:
        client.turn.end()
        end_turn(self.roster, client)
        keep_up(self.roster, client)
        if not wants:
            client.precedence.forget_interruption()
        if client.precedence.interrupted is None:
            client.precedence.serve(now)
        self.roster.move(client, Step.RELEASE_WANTING if wants else Step.RELEASE, now)

    def _count_turn(self, event: Released, client: Client) -> None:
        client.work.note_turn_end(event.now - client.turn.granted_at)
        self.state.slices += client.turn.sliced
        self.state.turn_changes += not client.turn.sliced
        client.turn.note_slice(sliced=False)

    def _on_used(self, event: Used, client: Client) -> None:
        window = self.state.settings.slice_seconds or 1.0
        client.work.note_work(event.now)
        held, throttled = client.held_seconds(event.now), event.throttled_seconds
        busy = client.work.is_busy(held, event.busy_seconds, throttled, window)
        active = client.work.is_active(event.busy_seconds)
        takes_part = not client.is_away and not client.drain.undrained
        self.roster.set_busy(client, busy and takes_part)
        self.roster.set_active(client, active and not client.is_away)

    def _handed_over(self, event: Released) -> list[Effect]:
        to, turn = event.handed_to, event.handed_turn
        next_client = None if to is None else self.roster.clients.get(to)
        if next_client is None or next_client.turn.next is None or next_client.turn.next != turn:
            return []
        # It runs already. The grant repeats that, in case the wake did not reach it.
        return [grant(self.roster, next_client, event.now)]

    def _on_settings(self, event: SettingsChanged) -> None:
        policy = find_policy(event.settings.policy)
        if policy is not self.roster.policy:
            self.roster.set_policy(policy)
            self.state.head = None
        self.state.settings = event.settings
        self.state.deadline = None
        if event.usable_bytes is not None:
            self.state.usable_bytes = event.usable_bytes
        if event.context_bytes is not None:
            self.state.context_bytes = event.context_bytes
