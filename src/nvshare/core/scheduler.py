"""Restores what must hold on one device after every event: the heart of the core.

It is one function, ``restore``, whatever the event was. It looks at who is where (the roster),
opens gates as far as memory allows, and sees to it that whoever waits gets a turn:

* While everything fits, everybody runs, nobody is asked for anything, and no timer runs.
* Otherwise the first in the queue who does not fit beside those who run becomes the leader, and
  stays it until it runs. Everybody who runs is asked to give way when idle. When the turn is
  over, a new group is formed around the leader: others who wait, in their order, and then those
  who run now, the latest first, as long as all fit. Who runs and is not in it is told to go.
* Somebody who waits and fits beside those who run is let in at once, unless that would take the
  room from the leader. That does not lengthen the turn.
* If those who run do not fit together any more, because one has grown, the latest of them are
  told to go until the rest fits. This does not wait for the end of a turn.
* Who is parked (parking.py) is not counted with: its memory leaves, and what is away takes no room.
* What all of this is about, the regime says (regimes/): what somebody weighs, what fits beside
  what, and how long turns and rests are. By default that is memory. If everything fits, but several
  compute all the time, those take short turns among themselves, and only they weigh anything.

Memory that the host cannot hold cannot leave the device (hostroom.py), and the driver would push it
out all the same to make room for whoever runs. So nobody is let run whom that would make room for:
it waits, and leads nobody, until those in its way end, shrink, or may leave. If that leaves nobody
who could run, one may who has everything on the device and so pushes nothing out.

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

from nvshare.core.asking import ask, relax
from nvshare.core.claims import charge_claim, note_claim
from nvshare.core.client import BEST_STANDING, Client, Park
from nvshare.core.credit import earn, prompt_limit
from nvshare.core.effects import Effect, Grant, Report, ReportKind, Revoke, Urgency
from nvshare.core.ending import lengthen_turn, turn_end
from nvshare.core.hope import leaves_hope, note_calm
from nvshare.core.lease import State, Step
from nvshare.core.moves import (
    choose_way,
    fill_bytes,
    fill_order,
    outgoing_bytes,
    share_out,
)
from nvshare.core.orders import make_room, move_excess_out, plan_handover, set_alarms
from nvshare.core.outlook import tell_what_cannot_leave
from nvshare.core.parking import ask_to_rest, park_memory
from nvshare.core.priority import starving
from nvshare.core.providing import provide
from nvshare.core.regimes import choose_regime
from nvshare.core.room import tell_room
from nvshare.core.roster import Roster
from nvshare.core.settings import Way
from nvshare.core.shares import forget_the_late, tell_shares
from nvshare.core.state import DeviceState
from nvshare.core.undrained import may_lead, try_again

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

    def restore(self, now: float) -> list[Effect]:
        """Order whatever is missing for the invariants to hold."""
        state, roster = self._state, self._roster
        effects: list[Effect] = []
        if now >= state.settle_until:
            if roster.host.is_tight:
                note_calm(state.settings, roster.clients.values(), now)
            forget_the_late(roster, now)
            self._forget_growth()
            effects += try_again(roster, now)
            effects += park_memory(state, roster, now)
            effects += self._follow_regime(now)
            self._let_starving_go_first(now)
            effects += self._go_on_without_the_silent(now)
            effects += self._open_gates(now)
            effects += ask_to_rest(state, roster, now)
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
            orders = [*room, *move_excess_out(roster)]
            effects += orders
            leader = self._leader()
            is_same = (leader.id if leader else None) == self._state.leader
            if not roster.host.is_tight or (is_same and not orders):
                break
            # What leaves for one takes the host's room from another.
        return effects

    def grant(self, client: Client, now: float) -> Grant:
        """Open a client's gate. A turn begins with the first to run, and with a leader."""
        leads, settings = client.id == self._state.leader, self._state.settings
        if leads or not self._roster.running:
            # Who was interrupted goes on with its turn.
            self._state.turn_started = now - (client.interrupted or 0.0)
            self._state.deadline = None
            self._state.turn_limit = prompt_limit(client, self._roster, settings)
        if leads:
            self._state.appoint(None, now)
        if client.state is State.IDLE:
            earn(client, self._roster, settings, now)
        turn = client.next_turn or self._state.number_turn()
        self._roster.set_outbound(client, 0)
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
        client.claims = False
        self._roster.set_interrupted(client, None)
        client.contested_before = self._state.contested(now)
        client.worked_at = now
        client.granted_at, client.moved_before = now, self._state.pace.moving
        client.told_held_up, client.calm_since = False, now
        client.trimmed = min(client.excess, client.memory.swapped)
        self._roster.set_trims(client, min(client.trimmed, client.most_out))
        order = fill_order(client, self._roster.room)
        # What is beyond its limit may come in by itself, when it is used.
        self._roster.set_filled(client, fill_bytes(client, self._roster.room) or None)
        missing = self._roster.missing if client.memory.swapped else 0
        self._roster.set_missing(client, missing, told=self._told_missing(client, missing))
        return Grant(client.id, turn, order, missing)

    def _told_missing(self, client: Client, missing: int) -> int:
        """Whoever has been handed its turn knows what it was told then: its grant is void."""
        handover = self._state.handover
        if handover and (handover.to_client, handover.turn) == (client.id, client.turn):
            return handover.missing
        return missing

    def _appoint(self, leader: Client | None, now: float) -> None:
        name = leader.id if leader else None
        if name is None or name != self._state.leader:
            self._state.appoint(name, now)
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
            self._roster.set_standing(client, BEST_STANDING)

    def _go_on_without_the_silent(self, now: float) -> list[Effect]:
        patience = self._state.settings.revoke_patience
        silent = [c for c in self._roster.yielding.values() if now >= c.since + patience]
        for client in silent:
            self._roster.go_on_without(client)
        return [self._overdue(client, patience) for client in silent]

    def _overdue(self, client: Client, patience: float) -> Report:
        text = (
            f"has not given its turn up within {patience:g} s; the others go on without it, "
            f"beside {client.memory.resident} bytes that it may still have on the GPU"
        )
        return Report(ReportKind.OVERDUE, self._state.id, client.id, text)

    def _open_all(self, now: float) -> list[Effect]:
        roster = self._roster
        self._appoint(None, now)
        closed = [*roster.waiting, *(one for one in roster.idle.values() if not one.park)]
        effects = relax(self._state, roster, now)
        return [*effects, *(self.grant(client, now) for client in closed)]

    def _take_turns(self, now: float) -> list[Effect]:
        effects = [*self._split(now), *self._admit(now)]
        leader = self._leader()
        if leader is None:
            effects += relax(self._state, self._roster, now)
            effects += self._let_somebody_in(now)
        elif not self._roster.running_admits(leader):
            end = turn_end(self._state, self._roster, leader)
            claim = note_claim(self._state, self._roster, leader, now)
            if now >= end:
                effects += self._switch(leader, now)
            elif now >= claim:
                effects += self._interrupt(leader, now)
            else:
                effects += ask(self._state, self._roster, leader, now)
        else:
            # Only those who are giving way already are in its way.
            self._state.deadline = None
        return effects

    def _let_somebody_in(self, now: float) -> list[Effect]:
        """Have somebody run who pushes nothing out, if nobody else could."""
        roster = self._roster
        if roster.running or roster.yielding:
            return []
        whole = (c for c in roster.waiting if not c.memory.swapped and not c.grown)
        return [self.grant(client, now) for client in islice(whole, 1)]

    def _split(self, now: float) -> list[Effect]:
        roster = self._roster
        victims = []
        for should_go in (self._takes_hope, self._makes_room, self._is_too_much):
            if not self._running_fits():
                for client in reversed(list(roster.running.values())):
                    if client.weight and not client.undrained and should_go(client):
                        roster.move(client, Step.REVOKE, now)
                        victims.append(client)
        if not victims:
            return []
        for client in victims:
            # Its thread waits for the answer until the gate has closed.
            roster.set_unused(client, min(client.grown, client.memory.untouched))
        self._forget_growth()
        revoked = self._revoked(victims, roster.excess, Way.MOVE_OUT)
        if roster.regime.is_sliced:
            return revoked
        text = f"those who run do not fit together any more; {len(victims)} told to give way"
        report = Report(ReportKind.SPLIT, self._state.id, victims[0].id, text)
        return [report, *revoked]

    def _forget_growth(self) -> None:
        """Who runs, and fits, has not grown. What others move out from now on is not its doing."""
        roster = self._roster
        if roster.grown and self._running_fits():
            roster.forget_growth(c for c in list(roster.grown.values()) if c.holds)

    def _running_fits(self) -> bool:
        roster = self._roster
        return roster.running_load.fits(roster.capacity) and roster.host_lets_all(roster.running)

    def _takes_hope(self, client: Client) -> bool:
        """Whether a client has grown so far that nobody could end any more (hope.py)."""
        roster = self._roster
        if not client.grown or not roster.host.is_tight:
            return False
        return not leaves_hope(roster, roster.running)

    def _makes_room(self, client: Client) -> bool:
        """Whether there is more room for the others who run if a client does not."""
        roster = self._roster
        if self._running_fits():
            return False
        if client.grown or not roster.host.is_tight:
            return True
        # What of it can leave makes room. What cannot is on the device, and pushes nobody out.
        rest = {one: other for one, other in roster.running.items() if other is not client}
        more = roster.stuck_beside(rest) - roster.stuck_beside(roster.running)
        return roster.running_load.heavy > 1 and more < client.memory.swappable

    def _is_too_much(self, client: Client) -> bool:
        """Whether those who run do not fit together, wherever the others' memory may be."""
        del client
        return not self._roster.running_load.fits(self._roster.capacity)

    def _revoked(self, victims: list[Client], excess: int, way: Way) -> list[Effect]:
        effects: list[Effect] = []
        host = self._roster.host
        # Who has not said that its memory is in may have it out still, and would move the rest out
        # as well. Where the host may not hold that, it is told when it has given way.
        known = [c for c in victims if not c.memory.swapped or not host.is_tight]
        shares = {c.id: evicted for c, evicted in share_out(known, excess, host.allowance())}
        for client in victims:
            evicted = shares.get(client.id, 0)
            self._roster.set_evicting(client, evicted)
            client.sliced = self._roster.regime.is_sliced
            displace = evicted > 0 and way is Way.DISPLACE
            effects.append(Revoke(client.id, client.turn, Urgency.NOW, evicted, displace=displace))
        return effects

    def _leader(self) -> Client | None:
        roster = self._roster
        first = next((client for client in roster.waiting if self._may_lead(client)), None)
        if self._state.leader is not None:
            leader = roster.clients.get(self._state.leader)
            waits = leader and leader.state is State.WAITING and not leader.is_barred
            waits = waits and leader and self._may_lead(leader)
            if leader and first and waits:
                return first if first.place[:2] < leader.place[:2] else leader
        return first

    def _may_lead(self, client: Client) -> bool:
        """Whether a client could run as soon as those have given way who can."""
        return self._roster.host_lets(client) and may_lead(self._roster, client)

    def _admit(self, now: float) -> list[Effect]:
        effects: list[Effect] = []
        while (leader := self._leader()) and self._roster.admits(leader):
            effects.append(self.grant(leader, now))
        self._appoint(leader, now)
        if leader:
            effects += [self.grant(client, now) for client in self._riders(leader)]
        return effects

    def _riders(self, leader: Client) -> list[Client]:
        """Choose who may be let in now although the leader has to wait."""
        roster = self._roster
        everybody_weighs = roster.waiting_load.heavy == len(roster.waiting)
        if len(roster.waiting) == 1 or (roster.headroom <= 0 and everybody_weighs):
            return []
        beside_leader = roster.capacity - leader.weight
        if roster.running_admits(leader):
            beside_leader -= roster.running_load.weight
        others = (client for client in roster.waiting if client is not leader)
        leaders = {leader.id: leader}
        held = {**roster.running, **roster.yielding}
        return pick(others, min(roster.headroom, beside_leader), roster, leaders, held)

    def _interrupt(self, leader: Client, now: float) -> list[Effect]:
        """End the turn before its end: who has to go goes on with it when the leader rests."""
        lasted, gone = now - self._state.turn_started, set(self._roster.yielding)
        charge_claim(self._state, self._roster, leader)
        effects = self._switch(leader, now)
        for name, client in self._roster.yielding.items():
            if name not in gone:
                self._roster.set_interrupted(client, lasted)
        return effects

    def _switch(self, leader: Client, now: float) -> list[Effect]:
        """End the turn: keep of those who run whoever fits into the leader's group."""
        roster = self._roster
        fixed = roster.undrained
        room = roster.capacity - leader.weight - sum(one.weight for one in fixed.values())
        group = {leader.id: leader, **fixed}
        others = (client for client in roster.waiting if client is not leader)
        coming = pick(others, room, roster, group)
        room -= sum(client.weight for client in coming)
        group |= {client.id: client for client in coming}
        running = (one for one in reversed(roster.running.values()) if one.id not in fixed)
        staying = {*fixed, *(client.id for client in pick(running, room, roster, group))}
        going = [client for client in roster.running.values() if client.id not in staying]
        for client in going:
            roster.move(client, Step.REVOKE, now)
        self._state.deadline = None
        outgoing = outgoing_bytes(roster, leader, *coming)
        way = choose_way(self._state, roster, going, [leader, *coming], outgoing)
        return self._revoked(going, outgoing, way)
