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

A program that was told to go and does not answer (it is stopped, or in one endless kernel) must
not hold up the device for ever. Until ``revoke_patience`` is over it counts with all it has, and
only those who fit beside it go on. After that it is reported and not counted any more: the next
group is let in although there may not be room. The driver then pages the silent program out as
the others touch their memory. That is slow at first, but it ends, and a hung device does not.
Its gate stays closed until it has released its turn and been granted another.
"""

from collections.abc import Iterable

from nvshare.core.client import Client
from nvshare.core.effects import Effect, Grant, Keep, Report, ReportKind, Revoke, Urgency
from nvshare.core.lease import State, Step
from nvshare.core.memory import RULES, Rule
from nvshare.core.moves import (
    fill_bytes,
    idle_seconds,
    outgoing_bytes,
    share_out,
    swap_seconds,
)
from nvshare.core.orders import make_room, plan_handover, set_alarms
from nvshare.core.roster import Roster
from nvshare.core.settings import Mode
from nvshare.core.state import DeviceState


def pick(candidates: Iterable[Client], room: int) -> list[Client]:
    """Choose those who fit in the room together, first come first served."""
    chosen = []
    for client in candidates:
        if client.weight <= room or client.weight == 0:
            chosen.append(client)
            room -= client.weight
    return chosen


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
            self._choose_rule()
            effects += self._go_on_without_the_silent(now)
            effects += self._open_all(now) if roster.everything_fits else self._take_turns(now)
            effects += make_room(roster)
            effects += plan_handover(state, roster)
        effects += set_alarms(state, roster, now)
        return effects

    def grant(self, client: Client, now: float) -> Grant:
        """Open a client's gate. A turn begins with the first to run, and with a leader."""
        leads = client.id == self._state.leader
        if leads or not self._roster.running:
            self._state.turn_started, self._state.deadline = now, None
        if leads:
            self._state.leader = None
        turn = client.next_turn or self._state.number_turn()
        self._roster.move(client, Step.GRANT, now)
        self._roster.set_evicting(client, 0)
        client.turn, client.next_turn = turn, None
        client.granted_at, client.moved_before = now, self._state.pace.moving
        filled = fill_bytes(client, self._roster.room)
        self._roster.set_filled(client, filled or None)
        return Grant(client.id, turn, filled)

    def _appoint(self, leader: Client | None) -> None:
        name = leader.id if leader else None
        if name is None or name != self._state.leader:
            self._state.leader, self._state.deadline = name, None

    def _choose_rule(self) -> None:
        state, roster = self._state, self._roster
        rule = RULES[state.settings.mode]
        state.slice_seconds = None
        if state.settings.mode is Mode.AUTO and roster.swappable <= roster.room:
            state.slice_seconds = roster.policy.slice_seconds(roster)
            rule = rule if state.slice_seconds is None else Rule.ONE
        if rule is not roster.rule:
            roster.set_rule(rule)
            state.deadline = None

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
        self._appoint(None)
        closed = [*roster.waiting, *roster.idle.values()]
        return [*self._relax(now), *(self.grant(client, now) for client in closed)]

    def _relax(self, now: float) -> list[Effect]:
        asked = list(self._roster.asked.values())
        for client in asked:
            self._roster.keep(client, now)
        return [Keep(client.id, client.turn) for client in asked]

    def _take_turns(self, now: float) -> list[Effect]:
        effects = [*self._split(now), *self._admit(now)]
        leader = self._leader()
        if leader is None:
            effects += self._relax(now)
        elif not self._roster.running_admits(leader):
            over = now >= self._turn_end(leader)
            effects += self._switch(leader, now) if over else self._ask(leader, now)
        else:
            # Only those who are giving way already are in its way.
            self._state.deadline = None
        return effects

    def _split(self, now: float) -> list[Effect]:
        roster = self._roster
        victims = []
        while not roster.running_load.fits(roster.capacity):
            youngest = next(reversed(roster.running.values()))
            roster.move(youngest, Step.REVOKE, now)
            victims.append(youngest)
        if not victims:
            return []
        text = f"those who run do not fit together any more; {len(victims)} told to give way"
        report = Report(ReportKind.SPLIT, self._state.id, victims[0].id, text)
        return [report, *self._revoked(victims, roster.excess)]

    def _revoked(self, victims: list[Client], excess: int) -> list[Effect]:
        effects: list[Effect] = []
        for client, evicted in list(share_out(victims, excess)):
            self._roster.set_evicting(client, evicted)
            effects.append(Revoke(client.id, client.turn, Urgency.NOW, evicted))
        return effects

    def _leader(self) -> Client | None:
        if self._state.leader is not None:
            leader = self._roster.clients.get(self._state.leader)
            if leader and leader.state is State.WAITING:
                return leader
        return self._roster.waiting.first()

    def _admit(self, now: float) -> list[Effect]:
        effects: list[Effect] = []
        while (leader := self._leader()) and self._roster.admits(leader):
            effects.append(self.grant(leader, now))
        self._appoint(leader)
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
        return pick(others, min(roster.headroom, beside_leader))

    def _turn_end(self, leader: Client) -> float:
        state = self._state
        if state.deadline is None:
            state.deadline = state.turn_started + self._turn_length(leader)
        return state.deadline

    def _turn_length(self, leader: Client) -> float:
        if self._state.slice_seconds is not None:
            return self._state.slice_seconds
        swap = swap_seconds(self._state, self._roster, leader, leader.memory.swappable)
        return self._state.pace.turn_length(self._state.settings, swap)

    def _ask(self, leader: Client, now: float) -> list[Effect]:
        roster = self._roster
        # Who was asked may weigh nothing by now, and then is in nobody's way.
        if sum(client.weight > 0 for client in roster.asked.values()) == roster.running_load.heavy:
            return []
        new = [c for c in roster.running.values() if c.weight and not c.asked]
        for client in new:
            roster.ask(client, now)
        return [self._please(client, leader) for client in new]

    def _please(self, client: Client, leader: Client) -> Revoke:
        # Memory only has to move if the leader can come as soon as this one has gone.
        roster, evicted = self._roster, 0
        rest = roster.running_load.weight - client.weight
        alone = roster.running_load.heavy == 1 or rest + leader.weight <= roster.capacity
        if alone and not roster.yielding:
            evicted = max(0, min(client.staying, outgoing_bytes(roster, leader)))
        client.idle_seconds = idle_seconds(self._state, roster, client, leader)
        return Revoke(client.id, client.turn, Urgency.WHEN_IDLE, evicted, client.idle_seconds)

    def _switch(self, leader: Client, now: float) -> list[Effect]:
        """End the turn: keep of those who run whoever fits into the leader's group."""
        roster = self._roster
        room = roster.capacity - leader.weight
        coming = pick((client for client in roster.waiting if client is not leader), room)
        room -= sum(client.weight for client in coming)
        staying = {client.id for client in pick(reversed(roster.running.values()), room)}
        going = [client for client in roster.running.values() if client.id not in staying]
        for client in going:
            roster.move(client, Step.REVOKE, now)
        self._state.deadline = None
        return self._revoked(going, outgoing_bytes(roster, leader, *coming))
