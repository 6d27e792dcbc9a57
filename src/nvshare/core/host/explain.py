"""Which clients wait because the host is short, and why, in words for users. Decides nothing."""

from math import inf

from nvshare.core.clients.host_room import gib
from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Effect, Report, ReportKind
from nvshare.core.host.admit import host_lets, is_held_back
from nvshare.core.host.outlook import UNHINDERED, Outlook
from nvshare.core.host.safe_order import next_calm
from nvshare.core.host.stuck import stuck_beside, stuck_of_others
from nvshare.core.lease import State
from nvshare.core.record.client import Client, Told


def tell_what_cannot_leave(roster: Roster) -> list[Effect]:
    """Report each held-up client, once until its next turn, and the clients in its way, once."""
    state = roster.state
    held_up = held_up_clients(roster)
    if state.is_held_up and not held_up:
        for client in roster.clients.values():
            client.forget_told(Told.STUCK)
    state.is_held_up = bool(held_up)
    effects: list[Effect] = []
    for client in held_up:
        owners = list(stuck_of_others(roster, {client.id}))
        if client.tell(Told.HELD_UP):
            effects.append(_waits(roster, client))
        for owner, stuck in owners:
            if owner.tell(Told.STUCK):
                effects.append(_stays(roster, owner, stuck))
    if roster.host.is_tight and roster.running_load.heavy == 1:
        effects += _too_large(roster)
    return effects


def growth_due(roster: Roster) -> float:
    """Return when a client that waits because others may grow may be let in. Infinity: never."""
    if not roster.state.is_held_up:
        return inf
    if not any(is_held_back(roster, client) for client in roster.waiting):
        return inf
    return next_calm(roster.state.settings, roster.clients.values())


def held_up_clients(roster: Roster) -> list[Client]:
    """Return the waiting clients that could not or may not run if all others gave way.

    Whether they may is for host/safe_order.py to say.
    """
    if not roster.host.is_tight:
        return []
    return [client for client in roster.waiting if not host_lets(roster, client)]


def _too_large(roster: Roster) -> list[Effect]:
    """Report a client that runs alone and exceeds the device and the host: it may be killed."""
    state = roster.state
    effects: list[Effect] = []
    for client in roster.running.values():
        too_much = client.memory.swappable > max(roster.room, roster.host.most(client))
        if too_much and client.tell(Told.STUCK):
            text = (
                f"has {gib(client.memory.swappable)}, more than the GPU holds, and more than may "
                f"be on the host: {roster.host.why(client)}"
            )
            effects.append(Report(ReportKind.OVERCOMMITTED, state.id, client.id, text))
    return effects


def outlook_of(roster: Roster, client: Client) -> Outlook:
    """Return what keeps a client waiting, or its memory on the device."""
    stuck = roster.host.stuck(client)
    waits = client.state is State.WAITING and not client.is_barred
    is_held_up = waits and not host_lets(roster, client)
    if not stuck and not is_held_up:
        return UNHINDERED
    return Outlook(
        stuck=stuck,
        stuck_because=roster.host.why(client) if stuck else "",
        is_held_up=is_held_up,
        held_up_because=why_held_up(roster, client) if is_held_up else "",
    )


def why_held_up(roster: Roster, client: Client) -> str:
    """Return why a held-up client waits."""
    if is_held_back(roster, client):
        return (
            f"it has {gib(client.memory.swappable)} by now and may still grow, so no program "
            f"would be sure to end any more: {roster.host.why(client)}; it goes on when other "
            "programs end or free memory"
        )
    stuck = stuck_beside(roster, {client.id})
    return (
        f"beside its {gib(client.memory.swappable)} there is no room for {gib(stuck)} of other "
        "programs that cannot leave the GPU; it goes on when they end or free memory"
    )


def _waits(roster: Roster, client: Client) -> Report:
    state = roster.state
    text = f"has to wait: {why_held_up(roster, client)}"
    return Report(ReportKind.HELD_UP, state.id, client.id, text)


def _stays(roster: Roster, owner: Client, stuck: int) -> Report:
    state = roster.state
    text = (
        f"{gib(stuck)} of its memory cannot leave the GPU, and other programs wait for that: "
        f"{roster.host.why(owner)}"
    )
    return Report(ReportKind.STUCK, state.id, owner.id, text)
