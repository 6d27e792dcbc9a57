"""Opening gates as far as memory allows, and having others make room for that."""

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Effect
from nvshare.core.host.admit import running_admits
from nvshare.core.moves.make_room import make_room, move_over_limit_out
from nvshare.core.turns.admit import admit, let_somebody_in, open_all
from nvshare.core.turns.end import lengthen_turn
from nvshare.core.turns.head import find_head
from nvshare.core.turns.leave_room import leave_to_bursts
from nvshare.core.turns.soft_revoke import ask, relax
from nvshare.core.turns.split import split
from nvshare.core.turns.switch import end_turn, may_end_turn

# Each round has clients move out, or lets one run. There are never more than a few.
ROUNDS = 8


def open_gates(roster: Roster, now: float) -> list[Effect]:
    """Let in clients that fit, and have others make room for them."""
    state = roster.state
    effects = list[Effect]()
    for _ in range(ROUNDS):
        effects += open_all(roster, now) if roster.everything_fits else _take_turns(roster, now)
        room = make_room(roster)
        if room:
            lengthen_turn(roster, now)
        orders = [*room, *move_over_limit_out(roster), *leave_to_bursts(roster)]
        effects += orders
        head = None if roster.everything_fits else find_head(roster)
        is_same = (head.id if head else None) == state.head
        roster.is_settled = not roster.host.is_tight or (is_same and not orders)
        if roster.is_settled:
            break
        # Memory that leaves for one client takes host memory from another.
    return effects


def _take_turns(roster: Roster, now: float) -> list[Effect]:
    state = roster.state
    effects = [*split(roster, now), *admit(roster, now)]
    head = find_head(roster)
    if head is None:
        effects += relax(roster, now)
        effects += let_somebody_in(roster, now)
    elif running_admits(roster, *roster.party(head)):
        # Only yielding clients are in its way.
        state.deadline = None
    elif may_end_turn(roster, head, now) and not head.in_gang:
        effects += end_turn(roster, head, now)
    else:
        effects += ask(roster, head, now)
    return effects
