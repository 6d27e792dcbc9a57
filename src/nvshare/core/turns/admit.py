"""Letting clients in: the grant of a turn, and who may have one now.

The head comes first. Clients behind it that fit beside the running ones ride in the head's wait, as
long as they do not take its room; clients that fit while it waits for other devices are guests.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TypeAlias

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Effect, Grant
from nvshare.core.host.admit import admits, host_lets, running_admits
from nvshare.core.lease import Step
from nvshare.core.moves.sizes import (
    fill_bytes,
    fill_order,
)
from nvshare.core.precedence.charge import begin_turn
from nvshare.core.record.client import Client, Park, Told
from nvshare.core.turns import orders
from nvshare.core.turns.end import fill_seconds, keep_turn, least_turn
from nvshare.core.turns.head import find_head, set_head
from nvshare.core.turns.soft_revoke import relax

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
        if fits and all(host_lets(roster, client, chosen, group) for group in groups):
            chosen[client.id] = client
            room -= client.weight
    return list(chosen.values())


def grant(roster: Roster, client: Client, now: float, *, is_guest: bool = False) -> Grant:
    """Open a client's gate. A turn begins with the first client to run, and with a head.

    A client that is let in while the head waits for other devices is a guest in its turn.
    """
    state = roster.state
    is_head, settings = client.id == state.head, state.settings
    begins = is_head or not (roster.running or is_guest)
    if begins:
        # An interrupted client goes on with its turn.
        state.turn_started = now - (client.precedence.interrupted or 0.0)
        state.deadline, state.kept_until = None, 0.0
        state.turn_limit = _limit(roster, client)
    if is_head:
        state.head = None
    begin_turn(roster, client)
    turn = client.turn.next or state.number_turn()
    roster.set_outbound(client, 0)
    told_out = client.leaving
    roster.move(client, Step.GRANT, now)
    roster.set_evicting(client, 0)
    # It may still be moving memory out by an earlier order.
    roster.offer(client, told_out)
    roster.forget_growth([client])
    if client.park is Park.IDLE:
        roster.set_park(client, None, now)
    client.turn.begin(turn, now)
    client.precedence.begin_turn()
    client.work.note_work(now)
    client.forget_told(Told.HELD_UP)
    client.growth.be_calm(now)
    client.excess.trim(min(client.excess.over_limit, client.memory.swapped))
    roster.set_trims(client, min(client.excess.trimmed, client.host_pages.most_out))
    order = fill_order(client, roster.room)
    # Memory beyond its limit may come in by itself, when it is used.
    roster.set_filled(client, fill_bytes(client, roster.room) or None)
    missing = roster.missing if client.memory.swapped else 0
    roster.set_missing(client, missing, told=_told_missing(roster, client, missing))
    if begins:
        least_turn(roster, now)
    if begins and settings.turn_seconds is not None:
        # A length from the settings may be shorter than the move.
        keep_turn(state, now, fill_seconds(state, client))
    return orders.grant(client, order, missing)


def _limit(roster: Roster, client: Client) -> float | None:
    """Return the limit of the turn that a client is about to have. None: as long as any.

    Where clients run to their end, a visitor that does not rest soon is one of them.
    """
    state = roster.state
    visits = client.precedence.bursts and (
        client.precedence.intrudes or client.precedence.interrupted is not None
    )
    return state.settings.turn_min if visits and roster.policy.runs_to_end else None


def _told_missing(roster: Roster, client: Client, missing: int) -> int:
    """Return what a client knows to be missing. After a hand-over, the grant is void."""
    state = roster.state
    handover = state.handover
    if handover and (handover.to_client, handover.turn) == (client.id, client.turn.number):
        return handover.missing
    return missing


def open_all(roster: Roster, now: float) -> list[Effect]:
    """Let everybody in."""
    set_head(roster, None)
    closed = [*roster.waiting, *(one for one in roster.idle.values() if not one.park)]
    effects = relax(roster, now)
    return [*effects, *(grant(roster, one, now) for one in closed if not one.in_gang)]


def admit(roster: Roster, now: float) -> list[Effect]:
    """Let in all who may have a turn now, and find the head of those that have to wait."""
    effects = list[Effect]()
    while True:
        while (head := find_head(roster)) and not head.in_gang and admits(roster, head):
            effects.append(grant(roster, head, now))
        set_head(roster, head)
        riders = _riders(roster, head) if head else []
        effects += [grant(roster, client, now) for client in riders]
        if not riders:
            return effects


def _riders(roster: Roster, head: Client) -> list[Client]:
    """Choose the clients that may be let in now although the head has to wait."""
    everybody_weighs = roster.waiting_load.heavy == len(roster.waiting)
    if len(roster.waiting) == 1 or (roster.headroom <= 0 and everybody_weighs):
        return []
    others = (one for one in roster.waiting if one is not head and not one.in_gang)
    head_party = {one.id: one for one in roster.party(head)}
    held = {**roster.running, **roster.yielding}
    return pick(others, _room_beside(roster, head), roster, head_party, held)


def _room_beside(roster: Roster, head: Client) -> int:
    """Return how much of the room that the head leaves may be taken now."""
    party = roster.party(head)
    beside_head = roster.capacity - sum(one.weight for one in party)
    if running_admits(roster, *party):
        beside_head -= roster.running_load.weight
    return min(roster.headroom, beside_head)


def has_room_beside(roster: Roster, party: list[Client], head: Client) -> bool:
    """Whether these could be let in now although the head has to wait."""
    room = _room_beside(roster, head)
    head_party = {one.id: one for one in roster.party(head)}
    held = {**roster.running, **roster.yielding}
    weight = sum(one.weight for one in party)
    return weight <= max(0, room) and pick(party, room, roster, head_party, held) == party


def let_guests_in(roster: Roster, head: Client, now: float) -> list[Effect]:
    """Let clients in that fit beside the running ones, while the head waits for other devices.

    They take the head's room, and give it back when it comes.
    """
    state = roster.state
    others = (one for one in roster.waiting if one is not head and not one.in_gang)
    held = {**roster.running, **roster.yielding}
    guests = pick(others, roster.headroom, roster, held)
    if guests and not roster.running:
        # The head does not have to wait for a guest's turn.
        state.turn_limit, state.deadline = 0.0, None
    return [grant(roster, client, now, is_guest=True) for client in guests]


def let_somebody_in(roster: Roster, now: float) -> list[Effect]:
    """If no client could run, grant a turn to one that pushes nothing out."""
    if roster.running or roster.yielding:
        return []
    able = (c for c in roster.waiting if not c.in_gang)
    whole = (c for c in able if not c.memory.swapped and not c.growth.grown)
    return [grant(roster, client, now) for client in islice(whole, 1)]
