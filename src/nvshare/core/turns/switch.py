"""The end of a turn for the head: who gives way, and who stays beside it."""

from math import inf

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Effect
from nvshare.core.moves.sizes import (
    choose_way,
    outgoing_bytes,
)
from nvshare.core.precedence.interrupt import interrupts_at
from nvshare.core.record.client import Client
from nvshare.core.turns.admit import pick
from nvshare.core.turns.end import turn_end
from nvshare.core.turns.revoke import revoke


def may_end_turn(roster: Roster, head: Client, now: float) -> bool:
    """Whether clients in the head's way may be told to give way.

    Either the turn is over, or the head may interrupt it.
    """
    state = roster.state
    state.interrupt_at = interrupts_at(roster, head, now)
    return now >= max(min(turn_end(roster, head), state.interrupt_at), state.kept_until)


def turn_due(roster: Roster, now: float) -> float:
    """Return when the turn ends for the head, if nothing else happens. Infinity: it does not."""
    state = roster.state
    if state.head is None or state.deadline is None:
        return inf
    end = max(min(state.deadline, state.interrupt_at or inf), state.kept_until)
    # A client of a gang may then have to wait for the end of a turn on another device.
    return inf if now >= end and roster.clients[state.head].in_gang else end


def end_turn(roster: Roster, head: Client, now: float) -> list[Effect]:
    """Tell the clients in the head's way to give way."""
    is_over = now >= turn_end(roster, head)
    return _switch(roster, head, now) if is_over else _suspend(roster, head, now)


def _suspend(roster: Roster, head: Client, now: float) -> list[Effect]:
    """Interrupt the turn for the head. The interrupted clients will have the rest of it."""
    state = roster.state
    lasted, gone = now - state.turn_started, set(roster.yielding)
    head.precedence.intrude()
    effects = _switch(roster, head, now)
    for name, client in roster.yielding.items():
        if name not in gone:
            client.precedence.interrupt(lasted)
    return effects


def _switch(roster: Roster, head: Client, now: float) -> list[Effect]:
    """End the turn. Running clients that fit into the head's group keep running."""
    state = roster.state
    fixed, party = roster.undrained, roster.party(head)
    room = roster.capacity - sum(one.weight for one in (*party, *fixed.values()))
    group = {**{one.id: one for one in party}, **fixed}
    others = (one for one in roster.waiting if one is not head and not one.in_gang)
    coming = pick(others, room, roster, group)
    room -= sum(client.weight for client in coming)
    group |= {client.id: client for client in coming}
    running = (one for one in reversed(roster.running.values()) if one.id not in fixed)
    staying = {*fixed, *(client.id for client in pick(running, room, roster, group))}
    going = [client for client in roster.running.values() if client.id not in staying]
    for client in going:
        roster.tell_to_go(client, now)
    state.deadline = None
    coming = [*party, *coming]
    outgoing = outgoing_bytes(roster, *coming)
    way = choose_way(roster, going, coming, outgoing)
    return revoke(roster, going, outgoing, way)
