"""Restores what must hold on one device after every event: the heart of the core.

It is one function, ``restore``, whatever the event was. It looks at who is where (the roster),
opens gates as far as memory allows, and sees to it that whoever waits gets a turn:

* While everything fits, everybody runs, nobody is asked for anything, and no timer runs.
* Otherwise the first in the queue who does not fit beside those who run becomes the head of the
  queue, and stays it until it runs. Everybody who runs is asked to give way when idle. When the
  turn is over, a new group is formed around the head: others who wait, in their order, and then
  those who run now, the latest first, as long as all fit. Who runs and is not in it is told to go.
* Somebody who waits and fits beside those who run is let in at once, unless that would take the
  room from the head. That does not lengthen the turn.
* If those who run do not fit together any more, because one has grown, the latest of them are
  told to go until the rest fits. This does not wait for the end of a turn.
* Who is parked (parking.py) is not counted with: its memory leaves, and what is away takes no room.
* What all of this is about, the regime says (regimes/): what somebody weighs, what fits beside
  what, and how long turns and rests are. By default that is memory. If everything fits, but several
  compute all the time, those take short turns among themselves, and only they weigh anything.

Memory that the host cannot hold cannot leave the device (hostroom.py), and the driver would push it
out all the same to make room for whoever runs. So nobody is let run whom that would make room for:
it waits, and does not become the head, until those in its way end, shrink, or may leave. If that
leaves nobody who could run, one may who has everything on the device and so pushes nothing out.

A program that was told to go and does not answer (it is stopped, or in one endless kernel) must
not hold up the device for ever. Until ``revoke_patience`` is over it counts with all it has, and
only those who fit beside it go on. After that it is reported and not counted any more: the next
group is let in although there may not be room. The driver then pages the silent program out as
the others touch their memory. That is slow at first, but it ends, and a hung device does not.
Its gate stays closed until it has released its turn and been granted another. One that does answer,
and says that it cannot give way, has its gate open again (undrained.py).
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TypeAlias

from nvshare.core.ahead import fill_ahead
from nvshare.core.claims import charge_claim, note_claim
from nvshare.core.client import BEST_STANDING, Client, Park
from nvshare.core.credit import earn, prompt_limit
from nvshare.core.debts import pays
from nvshare.core.effects import Effect, Grant
from nvshare.core.ending import fill_seconds, keep_turn, lengthen_turn, turn_end
from nvshare.core.hope import note_calm
from nvshare.core.lease import State, Step
from nvshare.core.moves import (
    choose_way,
    fill_bytes,
    fill_order,
    outgoing_bytes,
)
from nvshare.core.orders import make_room, move_over_limit_out, plan_handover, set_alarms
from nvshare.core.outlook import tell_what_cannot_leave
from nvshare.core.parking import ask_to_rest, park_memory
from nvshare.core.priority import starving
from nvshare.core.providing import provide
from nvshare.core.regimes import choose_regime
from nvshare.core.revoking import go_on_without_the_silent, revoke
from nvshare.core.room import tell_room
from nvshare.core.roster import Roster
from nvshare.core.shares import forget_the_late, tell_shares
from nvshare.core.soft_revoke import ask, relax
from nvshare.core.splitting import forget_growth, split
from nvshare.core.state import DeviceState
from nvshare.core.undrained import may_be_head, try_again

# Each round has others move out, or somebody run. There are never more than a few.
_ROUNDS = 8

Group: TypeAlias = dict[int, Client]


def pick(
    candidates: Iterable[Client], room: int, roster: Roster, *beside: Mapping[int, Client]
) -> list[Client]:
    """Choose those who fit in the room together, first come first served.

    Beside each of these groups the host has to let them run.
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
    """Decides who runs on one device."""

    def __init__(self, state: DeviceState, roster: Roster) -> None:
        self._state = state
        self._roster = roster
        self._now = 0.0

    def restore(self, now: float) -> list[Effect]:
        """Order whatever is missing for the invariants to hold."""
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
            self._let_starving_go_first(now)
            effects += go_on_without_the_silent(state, roster, now)
            effects += self._open_gates(now)
            effects += ask_to_rest(state, roster, now)
            effects += fill_ahead(state, roster, now)
            effects += plan_handover(state, roster)
            effects += provide(roster)
            effects += tell_room(state, roster, now)
            effects += tell_what_cannot_leave(state, roster)
        # Nobody is to run before it knows what it may use.
        effects = [*tell_shares(state, roster), *effects]
        return [*effects, *set_alarms(state, roster, now)]

    def _open_gates(self, now: float) -> list[Effect]:
        """Let in who fits, and have others make room for it."""
        roster, effects = self._roster, list[Effect]()
        for _ in range(_ROUNDS):
            effects += self._open_all(now) if roster.everything_fits else self._take_turns(now)
            room = make_room(roster)
            if room:
                lengthen_turn(self._state, roster, now)
            orders = [*room, *move_over_limit_out(roster)]
            effects += orders
            head = self._head()
            is_same = (head.id if head else None) == self._state.head
            if not roster.host.is_tight or (is_same and not orders):
                break
            # What leaves for one takes the host's room from another.
        return effects

    def grant(self, client: Client, now: float, *, is_guest: bool = False) -> Grant:
        """Open a client's gate. A turn begins with the first to run, and with a head.

        Who is let in while the head waits for other devices is a guest in its turn.
        """
        is_head, settings = client.id == self._state.head, self._state.settings
        begins = is_head or not (self._roster.running or is_guest)
        if begins:
            # Who was interrupted goes on with its turn.
            self._state.turn_started = now - (client.interrupted or 0.0)
            self._state.deadline, self._state.kept_until = None, 0.0
            self._state.turn_limit = prompt_limit(client, self._roster, settings)
        if is_head:
            self._state.set_head(None, now)
        if client.state is State.IDLE:
            earn(client, self._roster, settings, now)
        turn = client.next_turn or self._state.number_turn()
        self._roster.set_outbound(client, 0)
        self._roster.set_ahead(client, 0)
        told_out = client.leaving
        self._roster.move(client, Step.GRANT, now)
        self._roster.set_evicting(client, 0)
        # What it was told to move out before, it may be moving now.
        self._roster.offer(client, told_out)
        self._roster.forget_growth([client])
        if client.park is Park.IDLE:
            self._roster.set_park(client, None, now)
        client.turn, client.next_turn = turn, None
        client.is_first_turn, client.is_new = client.is_new, False
        client.claims, client.ahead_in_vain = False, 0
        self._roster.set_interrupted(client, None)
        client.contested_before = self._state.contested(now)
        client.worked_at = now
        client.granted_at, client.moved_before = now, self._state.pace.moving
        client.told_held_up, client.calm_since = False, now
        client.trimmed = min(client.over_limit, client.memory.swapped)
        self._roster.set_trims(client, min(client.trimmed, client.most_out))
        order = fill_order(client, self._roster.room)
        # What is beyond its limit may come in by itself, when it is used.
        self._roster.set_filled(client, fill_bytes(client, self._roster.room) or None)
        missing = self._roster.missing if client.memory.swapped else 0
        self._roster.set_missing(client, missing, told=self._told_missing(client, missing))
        if begins and settings.turn_seconds is not None:
            # A length that somebody has chosen may be shorter than the move.
            keep_turn(self._state, now, fill_seconds(self._state, client))
        return Grant(client.id, turn, order, missing)

    def _told_missing(self, client: Client, missing: int) -> int:
        """Whoever has been handed its turn knows what it was told then: its grant is void."""
        handover = self._state.handover
        if handover and (handover.to_client, handover.turn) == (client.id, client.turn):
            return handover.missing
        return missing

    def _set_head(self, head: Client | None, now: float) -> None:
        name = head.id if head else None
        if name is None or name != self._state.head:
            self._state.set_head(name, now)
            self._state.deadline = None

    def _follow_regime(self, now: float) -> list[Effect]:
        """Share the device by the rules that its clients call for now."""
        state, regime = self._state, choose_regime(self._state.settings, self._roster)
        if regime is self._roster.regime:
            return []
        # What they were asked for was meant for the other rules.
        effects = relax(state, self._roster, now)
        self._roster.set_regime(regime)
        state.deadline = None
        if regime.is_sliced:
            state.turn_started = now
        return effects

    def _let_starving_go_first(self, now: float) -> None:
        for client in starving(self._state.settings, self._roster, now):
            if client.gang is None:
                self._roster.set_standing(client, BEST_STANDING)

    def _open_all(self, now: float) -> list[Effect]:
        roster = self._roster
        self._set_head(None, now)
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
            # Only those who are giving way already are in its way.
            self._state.deadline = None
        elif self.may_end_turn(head, now) and head.gang is None:
            effects += self.end_turn(head, now)
        else:
            effects += ask(self._state, self._roster, head, now)
        return effects

    def may_end_turn(self, head: Client, now: float) -> bool:
        """Whether the head may have those told to go who are in its way: the turn is over.

        Or it has a claim, and need not wait for that.
        """
        end = turn_end(self._state, self._roster, head)
        claim = note_claim(self._state, self._roster, head, now)
        return now >= max(min(end, claim), self._state.kept_until)

    def end_turn(self, head: Client, now: float) -> list[Effect]:
        """Tell them to go."""
        if now >= turn_end(self._state, self._roster, head):
            return self._switch(head, now)
        return self._interrupt(head, now)

    def _let_somebody_in(self, now: float) -> list[Effect]:
        """Have somebody run who pushes nothing out, if nobody else could."""
        roster = self._roster
        if roster.running or roster.yielding:
            return []
        able = (c for c in roster.waiting if c.gang is None)
        whole = (c for c in able if not c.memory.swapped and not c.grown)
        return [self.grant(client, now) for client in islice(whole, 1)]

    def _head(self) -> Client | None:
        roster = self._roster
        first = next((client for client in roster.waiting if self._may_be_head(client)), None)
        if self._state.head is not None:
            head = roster.clients.get(self._state.head)
            waits = head and head.state is State.WAITING and not head.is_barred
            waits = waits and head and self._may_be_head(head)
            if head and first and waits:
                # With gangs it takes one order on all devices for one to be the head on all of its.
                stays = head.gang is None and first.gang is None
                return head if stays and first.place[:2] >= head.place[:2] else first
        return first

    def _may_be_head(self, client: Client) -> bool:
        return self.could_be_head(client) and not client.stalled and not self.owes(client)

    def owes(self, client: Client) -> bool:
        """Whether a client that waits has to let others go before it, and is in their way."""
        if client.gang is not None or not client.weight:
            return False
        return pays(self._state, self._roster, client, self._now)

    def could_be_head(self, client: Client) -> bool:
        """Whether a client could run here as soon as those have given way who can."""
        return self._roster.host_lets(client) and may_be_head(self._roster, client)

    def _admit(self, now: float) -> list[Effect]:
        roster, effects = self._roster, list[Effect]()
        while True:
            while (head := self._head()) and head.gang is None and roster.admits(head):
                effects.append(self.grant(head, now))
            self._set_head(head, now)
            riders = self._riders(head) if head else []
            effects += [self.grant(client, now) for client in riders]
            if not riders:
                return effects
            # Who has to let others go first depends on who runs (debts.py), and so does the head.

    def _riders(self, head: Client) -> list[Client]:
        """Choose who may be let in now although the head has to wait."""
        roster = self._roster
        everybody_weighs = roster.waiting_load.heavy == len(roster.waiting)
        if len(roster.waiting) == 1 or (roster.headroom <= 0 and everybody_weighs):
            return []
        others = (one for one in roster.waiting if one is not head and one.gang is None)
        head_party = {one.id: one for one in roster.party(head)}
        held = {**roster.running, **roster.yielding}
        return pick(others, self._room_beside(head), roster, head_party, held)

    def _room_beside(self, head: Client) -> int:
        """Return what may be taken now of the room that the head leaves."""
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
        """Let those in who fit beside who runs, while the head waits for other devices.

        They take the head's room, and give it back when it comes.
        """
        roster = self._roster
        others = (one for one in roster.waiting if one is not head and one.gang is None)
        held = {**roster.running, **roster.yielding}
        guests = pick(others, roster.headroom, roster, held)
        if guests and not roster.running:
            # Nobody's turn has begun that the head would have to wait for.
            self._state.turn_limit, self._state.deadline = 0.0, None
        return [self.grant(client, now, is_guest=True) for client in guests]

    def _interrupt(self, head: Client, now: float) -> list[Effect]:
        """End the turn before its end: who has to go goes on with it when the head rests."""
        lasted, gone = now - self._state.turn_started, set(self._roster.yielding)
        charge_claim(self._state, self._roster, head)
        effects = self._switch(head, now)
        for name, client in self._roster.yielding.items():
            if name not in gone:
                self._roster.set_interrupted(client, lasted)
        return effects

    def _switch(self, head: Client, now: float) -> list[Effect]:
        """End the turn: keep of those who run whoever fits into the head's group."""
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
