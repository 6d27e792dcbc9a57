"""What follows when running clients do not fit together.

One has grown; or they ran without a daemon, and this one has found them. Those that run although no
daemon has given them a turn are told to give way, and then the latest, until the rest fits. That
does not wait for the end of a turn: with memory that does not fit, every further second would be
spent paging.
"""

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Effect, Report, ReportKind
from nvshare.core.host.admit import host_lets_all
from nvshare.core.host.safe_order import leaves_hope
from nvshare.core.host.stuck import stuck_beside
from nvshare.core.record.client import Client
from nvshare.core.settings import Way
from nvshare.core.turns.drain import let_come_back
from nvshare.core.turns.revoke import revoke


def split(roster: Roster, now: float) -> list[Effect]:
    """Tell the running clients that do not fit to give way."""
    state = roster.state
    victims = []
    for should_go in (_takes_hope, _makes_room, _is_too_much):
        if not _running_fits(roster):
            for client in _latest_first(roster):
                # A client that rides with its gang has no weight where clients are counted, but can
                # grow.
                counts = client.weight or client.growth.grown
                if counts and not client.drain.undrained and should_go(roster, client):
                    roster.tell_to_go(client, now)
                    victims.append(client)
    if not victims:
        return []
    for client in victims:
        # The new memory is unused: its thread waits for the answer until the gate has closed.
        roster.set_unused(client, min(client.growth.grown, client.memory.untouched))
    let_come_back(roster)
    forget_growth(roster)
    revoked = revoke(roster, victims, roster.overcommit, Way.MOVE_OUT)
    if roster.regime.is_sliced:
        return revoked
    text = f"the running programs no longer fit together; {len(victims)} told to give way"
    report = Report(ReportKind.SPLIT, state.id, victims[0].id, text)
    return [report, *revoked]


def forget_growth(roster: Roster) -> None:
    """Forget the growth of holders if all running clients fit: later moves are not due to it."""
    if roster.grown and _running_fits(roster):
        roster.forget_growth(c for c in list(roster.grown.values()) if c.has_turn)


def _latest_first(roster: Roster) -> list[Client]:
    """Return the running clients, those before the others that run without a turn."""
    latest = reversed(list(roster.running.values()))
    return sorted(latest, key=lambda client: not client.turn.ungranted)


def _running_fits(roster: Roster) -> bool:
    return roster.running_load.fits(roster.capacity) and host_lets_all(roster, roster.running)


def _takes_hope(roster: Roster, client: Client) -> bool:
    """Whether a client has grown so far that no client could end any more (host/safe_order.py)."""
    if not client.growth.grown or not roster.host.is_tight:
        return False
    return not leaves_hope(roster, roster.running)


def _makes_room(roster: Roster, client: Client) -> bool:
    """Whether the other running clients have more room if a client does not run."""
    if _running_fits(roster):
        return False
    if client.growth.grown or not roster.host.is_tight:
        return True
    # Only the part that can leave makes room. The rest is on the device, and pushes nothing out.
    rest = {one: other for one, other in roster.running.items() if other is not client}
    more = stuck_beside(roster, rest) - stuck_beside(roster, roster.running)
    return roster.running_load.heavy > 1 and more < client.memory.swappable


def _is_too_much(roster: Roster, client: Client) -> bool:
    """Whether running clients do not fit together, wherever the others' memory may be."""
    return client.weight > 0 and not roster.running_load.fits(roster.capacity)
