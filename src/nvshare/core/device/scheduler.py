"""Restores what must hold on one device after every event: the heart of the core.

One function, ``restore``, does this for every event. It looks at the clients by state (the roster),
opens gates as far as memory allows, and ensures that every waiting client gets a turn:

* While everything fits, all clients run, none is asked for anything, and no timer runs.
* Otherwise the first client in the queue that does not fit beside the running ones becomes the head
  of the queue, until it runs. All running clients are asked to give way when idle. When the turn is
  over, a new group is formed around the head: other waiting clients, in their order, and then the
  running clients, the latest first, as long as all fit. Running clients outside the group are told
  to give way.
* A waiting client that fits beside the running ones is let in at once, unless that would take the
  room from the head. That does not lengthen the turn.
* If the running clients do not fit together any more, because one has grown, the latest of them are
  told to give way until the rest fits. This does not wait for the end of a turn.
* A parked client (turns/park.py) does not count: its memory leaves, and memory away takes no room.
* The regime (regimes/) says how much a client weighs, which clients fit together, and how long
  turns and rests are. By default weight is memory. If everything fits, but several clients compute
  all the time, these take slices, and only they have weight.

Memory that the host cannot hold cannot leave the device (clients/host_room.py), yet the driver
would push it out to make room for a running client. So a client that needs its room may not run: it
waits, and does not become the head, until the clients in its way end, shrink, or may leave. If no
client could run then, one may that has all its memory on the device and so pushes nothing out.

A program that was told to give way and does not answer (it is stopped, or in one endless kernel)
must not hold up the device forever. Until ``revoke_patience`` is over it counts with all its
memory, and only clients that fit beside it go on. After that it is reported and not counted any
more: the next group is let in although there may not be room. The driver then pages the silent
program out as the others touch their memory. That is slow at first, but it ends, and a hung device
does not. Its gate stays closed until it has released its turn and been granted another. A program
that answers that it cannot give way has its gate open again (turns/undrained.py).
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TypeAlias

from nvshare.core.clients.roster import Roster
from nvshare.core.device.orders import make_room, move_over_limit_out, plan_handover, set_alarms
from nvshare.core.effects import Effect, Grant
from nvshare.core.host.explain import tell_what_cannot_leave
from nvshare.core.host.provide import provide
from nvshare.core.host.safe_order import note_calm
from nvshare.core.lease import Step
from nvshare.core.moves.room import tell_room
from nvshare.core.moves.sizes import (
    choose_way,
    fill_bytes,
    fill_order,
    outgoing_bytes,
)
from nvshare.core.precedence.charge import begin_turn
from nvshare.core.precedence.interrupt import first_in_turn, interrupts_at, lets_go_first
from nvshare.core.record.client import Client, Park
from nvshare.core.record.device import DeviceState
from nvshare.core.regimes import choose_regime
from nvshare.core.shares.shares import forget_the_late, tell_shares
from nvshare.core.turns.drain import help_drain
from nvshare.core.turns.end import fill_seconds, keep_turn, least_turn, lengthen_turn, turn_end
from nvshare.core.turns.leave_room import leave_to_bursts
from nvshare.core.turns.park import ask_to_rest, park_memory
from nvshare.core.turns.revoke import go_on_without_the_silent, revoke
from nvshare.core.turns.soft_revoke import ask, relax
from nvshare.core.turns.split import forget_growth, split
from nvshare.core.turns.undrained import may_be_head, try_again

# Each round has clients move out, or lets one run. There are never more than a few.
_ROUNDS = 8

Group: TypeAlias = dict[int, Client]


def pick(
    candidates: Iterable[Client], room: int, roster: Roster, *beside: Mapping[int, Client]
) -> list[Client]:
    """Choose the clients that fit in the room together, first come first served.

    The host has to let them run beside each of these groups.
    """
    chosen: Group = {}
    groups = beside if roster.host.is_tight else ()
    for client in candidates:
        fits = client.weight <= room or client.weight == 0
        if fits and all(roster.host_lets(client, chosen, group) for group in groups):
            chosen[client.id] = client
            room -= client.weight
    return list(chosen.values())


class Scheduler:
    """Decides which clients run on one device."""

    def __init__(self, state: DeviceState, roster: Roster) -> None:
        self._state = state
        self._roster = roster
        self._now = 0.0

    def restore(self, now: float) -> list[Effect]:
        """Restore the invariants, and return the orders for that."""
        state, roster = self._state, self._roster
        self._now = now
        effects: list[Effect] = []
        if now >= state.reconnect_until:
            if roster.host.is_tight:
                note_calm(state.settings, roster.clients.values(), now)
            forget_the_late(roster, now)
            forget_growth(roster)
            effects += try_again(roster, now)
            effects += park_memory(state, roster, now)
            effects += self._follow_regime(now)
            effects += go_on_without_the_silent(state, roster, now)
            effects += self._open_gates(now)
            effects += help_drain(roster, now)
            effects += ask_to_rest(state, roster, now)
            effects += plan_handover(state, roster)
            effects += provide(roster)
            effects += tell_room(state, roster, now)
            effects += tell_what_cannot_leave(state, roster)
        # A client must know its limits before it runs.
        effects = [*tell_shares(state, roster), *effects]
        return [*effects, *set_alarms(state, roster, now)]

    def _open_gates(self, now: float) -> list[Effect]:
        """Let in clients that fit, and have others make room for them."""
        roster, effects = self._roster, list[Effect]()
        for _ in range(_ROUNDS):
            effects += self._open_all(now) if roster.everything_fits else self._take_turns(now)
            room = make_room(roster)
            if room:
                lengthen_turn(self._state, roster, now)
            orders = [*room, *move_over_limit_out(roster), *leave_to_bursts(roster)]
            effects += orders
            head = self._head()
            is_same = (head.id if head else None) == self._state.head
            if not roster.host.is_tight or (is_same and not orders):
                break
            # Memory that leaves for one client takes host memory from another.
        return effects

    def grant(self, client: Client, now: float, *, is_guest: bool = False) -> Grant:
        """Open a client's gate. A turn begins with the first client to run, and with a head.

        A client that is let in while the head waits for other devices is a guest in its turn.
        """
        is_head, settings = client.id == self._state.head, self._state.settings
        begins = is_head or not (self._roster.running or is_guest)
        if begins:
            # An interrupted client goes on with its turn.
            self._state.turn_started = now - (client.interrupted or 0.0)
            self._state.deadline, self._state.kept_until = None, 0.0
            self._state.turn_limit = self._limit(client)
        if is_head:
            self._state.head = None
        begin_turn(self._state, self._roster, client)
        turn = client.next_turn or self._state.number_turn()
        self._roster.set_outbound(client, 0)
        told_out = client.leaving
        self._roster.move(client, Step.GRANT, now)
        self._roster.set_evicting(client, 0)
        # It may still be moving memory out by an earlier order.
        self._roster.offer(client, told_out)
        self._roster.forget_growth([client])
        if client.park is Park.IDLE:
            self._roster.set_park(client, None, now)
        client.turn, client.next_turn = turn, None
        client.is_new = client.visits = client.intrudes = False
        client.interrupted = None
        client.worked_at = now
        client.granted_at, client.moved_before = now, self._state.pace.moving
        client.told_held_up, client.calm_since = False, now
        client.trimmed = min(client.over_limit, client.memory.swapped)
        self._roster.set_trims(client, min(client.trimmed, client.most_out))
        order = fill_order(client, self._roster.room)
        # Memory beyond its limit may come in by itself, when it is used.
        self._roster.set_filled(client, fill_bytes(client, self._roster.room) or None)
        missing = self._roster.missing if client.memory.swapped else 0
        self._roster.set_missing(client, missing, told=self._told_missing(client, missing))
        if begins:
            least_turn(self._state, self._roster, now)
        if begins and settings.turn_seconds is not None:
            # A length from the settings may be shorter than the move.
            keep_turn(self._state, now, fill_seconds(self._state, client))
        return Grant(client.id, turn, order, missing)

    def _limit(self, client: Client) -> float | None:
        """Return the limit of the turn that a client is about to have. None: as long as any.

        Where clients run to their end, a visitor that does not rest soon is one of them.
        """
        visits = client.bursts and (client.intrudes or client.interrupted is not None)
        return self._state.settings.turn_min if visits and self._roster.policy.runs_to_end else None

    def _told_missing(self, client: Client, missing: int) -> int:
        """Return what a client knows to be missing. After a hand-over, the grant is void."""
        handover = self._state.handover
        if handover and (handover.to_client, handover.turn) == (client.id, client.turn):
            return handover.missing
        return missing

    def _set_head(self, head: Client | None) -> None:
        name = head.id if head else None
        if name is None or name != self._state.head:
            self._state.head, self._state.deadline = name, None

    def _follow_regime(self, now: float) -> list[Effect]:
        """Change to the regime that the present clients call for."""
        state, regime = self._state, choose_regime(self._state.settings, self._roster)
        if regime is self._roster.regime:
            return []
        # Clients were asked to give way under the rules of the old regime.
        effects = relax(state, self._roster, now)
        self._roster.set_regime(regime)
        state.deadline = None
        if regime.is_sliced:
            state.turn_started, state.kept_until = now, 0.0
        return effects

    def _open_all(self, now: float) -> list[Effect]:
        roster = self._roster
        self._set_head(None)
        closed = [*roster.waiting, *(one for one in roster.idle.values() if not one.park)]
        effects = relax(self._state, roster, now)
        return [*effects, *(self.grant(one, now) for one in closed if one.gang is None)]

    def _take_turns(self, now: float) -> list[Effect]:
        effects = [*split(self._state, self._roster, now), *self._admit(now)]
        head = self._head()
        if head is None:
            effects += relax(self._state, self._roster, now)
            effects += self._let_somebody_in(now)
        elif self._roster.running_admits(*self._roster.party(head)):
            # Only yielding clients are in its way.
            self._state.deadline = None
        elif self.may_end_turn(head, now) and head.gang is None:
            effects += self.end_turn(head, now)
        else:
            effects += ask(self._state, self._roster, head, now)
        return effects

    def may_end_turn(self, head: Client, now: float) -> bool:
        """Whether clients in the head's way may be told to give way.

        Either the turn is over, or the head may interrupt it.
        """
        state, roster = self._state, self._roster
        state.interrupt_at = interrupts_at(state, roster, head, now)
        return now >= max(min(turn_end(state, roster, head), state.interrupt_at), state.kept_until)

    def end_turn(self, head: Client, now: float) -> list[Effect]:
        """Tell the clients in the head's way to give way."""
        is_over = now >= turn_end(self._state, self._roster, head)
        return self._switch(head, now) if is_over else self._suspend(head, now)

    def _let_somebody_in(self, now: float) -> list[Effect]:
        """If no client could run, grant a turn to one that pushes nothing out."""
        roster = self._roster
        if roster.running or roster.yielding:
            return []
        able = (c for c in roster.waiting if c.gang is None)
        whole = (c for c in able if not c.memory.swapped and not c.grown)
        return [self.grant(client, now) for client in islice(whole, 1)]

    def _head(self) -> Client | None:
        """Return the first client in the queue that may be the head. Visitors come first there."""
        waiting = self._roster.waiting
        first = next((one for one in waiting if self.may_be_head(one)), None)
        if first is None:
            return None
        able = (one for one in waiting.steady() if one.weight and self.may_be_head(one))
        steady = first_in_turn(self._state, self._roster, able)
        if not first.bursts:
            return steady or first
        if steady and lets_go_first(self._state, self._roster, first, steady):
            return steady
        return first

    def may_be_head(self, client: Client) -> bool:
        """Whether a waiting client could run, and all of its gang."""
        return not client.stalled and self.could_be_head(client)

    def could_be_head(self, client: Client) -> bool:
        """Whether a client could run here once all clients that can have given way."""
        party = {one.id: one for one in self._roster.party(client)}
        return self._roster.host_lets(client, party) and may_be_head(self._roster, client)

    def _admit(self, now: float) -> list[Effect]:
        roster, effects = self._roster, list[Effect]()
        while True:
            while (head := self._head()) and head.gang is None and roster.admits(head):
                effects.append(self.grant(head, now))
            self._set_head(head)
            riders = self._riders(head) if head else []
            effects += [self.grant(client, now) for client in riders]
            if not riders:
                return effects

    def _riders(self, head: Client) -> list[Client]:
        """Choose the clients that may be let in now although the head has to wait."""
        roster = self._roster
        everybody_weighs = roster.waiting_load.heavy == len(roster.waiting)
        if len(roster.waiting) == 1 or (roster.headroom <= 0 and everybody_weighs):
            return []
        others = (one for one in roster.waiting if one is not head and one.gang is None)
        head_party = {one.id: one for one in roster.party(head)}
        held = {**roster.running, **roster.yielding}
        return pick(others, self._room_beside(head), roster, head_party, held)

    def _room_beside(self, head: Client) -> int:
        """Return how much of the room that the head leaves may be taken now."""
        roster, party = self._roster, self._roster.party(head)
        beside_head = roster.capacity - sum(one.weight for one in party)
        if roster.running_admits(*party):
            beside_head -= roster.running_load.weight
        return min(roster.headroom, beside_head)

    def has_room_for(self, party: list[Client], head: Client) -> bool:
        """Whether these could be let in now although the head has to wait."""
        roster = self._roster
        room = self._room_beside(head)
        head_party = {one.id: one for one in roster.party(head)}
        held = {**roster.running, **roster.yielding}
        weight = sum(one.weight for one in party)
        return weight <= max(0, room) and pick(party, room, roster, head_party, held) == party

    def let_guests_in(self, head: Client, now: float) -> list[Effect]:
        """Let clients in that fit beside the running ones, while the head waits for other devices.

        They take the head's room, and give it back when it comes.
        """
        roster = self._roster
        others = (one for one in roster.waiting if one is not head and one.gang is None)
        held = {**roster.running, **roster.yielding}
        guests = pick(others, roster.headroom, roster, held)
        if guests and not roster.running:
            # The head does not have to wait for a guest's turn.
            self._state.turn_limit, self._state.deadline = 0.0, None
        return [self.grant(client, now, is_guest=True) for client in guests]

    def _suspend(self, head: Client, now: float) -> list[Effect]:
        """Interrupt the turn for the head. The interrupted clients will have the rest of it."""
        lasted, gone = now - self._state.turn_started, set(self._roster.yielding)
        head.intrudes = True
        effects = self._switch(head, now)
        for name, client in self._roster.yielding.items():
            if name not in gone:
                client.interrupted = lasted
        return effects

    def _switch(self, head: Client, now: float) -> list[Effect]:
        """End the turn. Running clients that fit into the head's group keep running."""
        roster = self._roster
        fixed, party = roster.undrained, roster.party(head)
        room = roster.capacity - sum(one.weight for one in (*party, *fixed.values()))
        group = {**{one.id: one for one in party}, **fixed}
        others = (one for one in roster.waiting if one is not head and one.gang is None)
        coming = pick(others, room, roster, group)
        room -= sum(client.weight for client in coming)
        group |= {client.id: client for client in coming}
        running = (one for one in reversed(roster.running.values()) if one.id not in fixed)
        staying = {*fixed, *(client.id for client in pick(running, room, roster, group))}
        going = [client for client in roster.running.values() if client.id not in staying]
        for client in going:
            roster.tell_to_go(client, now)
        self._state.deadline = None
        coming = [*party, *coming]
        outgoing = outgoing_bytes(roster, *coming)
        way = choose_way(self._state, roster, going, coming, outgoing)
        return revoke(roster, going, outgoing, way)
