"""When a client may have the device before the present turn ends: as soon as the budget allows it.

A client has a claim if it has credit (credit.py), or if its priority is higher than that of all
running clients. Moving memory for it must be within the budget (move_budget.py). A client that has
credit itself is not interrupted for another one of the same standing: clients that compute in
bursts are served one after the other.

Higher priorities have the first claim on the budget: where there are any, the others leave half of
it to them. High priority can also be given a budget of its own. A client that interrupts by its
priority alone, without credit, has its turn charged to the budget as well: otherwise it could come
as often as memory can be moved for it, and compute for as long as it likes each time.
"""

from math import inf

from nvshare.core.client import BEST_STANDING, Client, standing_of
from nvshare.core.credit import claim_cost, claim_holds_at, protected_seconds
from nvshare.core.priority import is_outranked, outranks
from nvshare.core.roster import Roster
from nvshare.core.state import DeviceState

# The part of the budget that is left to higher priorities. And the seconds by which a claim has to
# shift before its timer is set again.
LEFT_TO_OTHERS = 0.5
CLOSE = 1e-3


def count_budgets(state: DeviceState, now: float) -> None:
    """Bring the budgets up to date after memory has moved."""
    settings = state.settings
    state.budget.count(now, state.pace.moving, settings.move_budget, settings.turn_min)
    # Moves for high priority are charged beforehand, by an estimate.
    state.high_budget.count(now, 0.0, settings.high_move_budget, settings.turn_min)


def note_claim(state: DeviceState, roster: Roster, head: Client, now: float) -> float:
    """Note and return when the head's claim may end the turn. Infinity: never."""
    at = _claim_at(state, roster, head, now)
    if state.claim_at is None or abs(at - state.claim_at) > CLOSE:
        state.claim_at = at
    return state.claim_at


def charge_claim(state: DeviceState, roster: Roster, head: Client) -> None:
    """Charge the cost of the head's claim to the budget of high priority, if it has that."""
    head.owes = not head.claims and not _has_own_budget(state, head)
    if _has_own_budget(state, head):
        cost = claim_cost(state, roster, head)
        state.high_budget.spend(cost)
        state.budget.leave_to_other(cost)


def charge_turn(state: DeviceState, client: Client, now: float) -> None:
    """Charge the turn, when it is over, of a client that interrupted others by priority alone.

    A client with credit is not charged: it has left the device to others for that time before.
    """
    if client.owes:
        moved = state.pace.moving - client.moved_before
        length = max(0.0, now - client.granted_at - moved)
        state.budget.owe(length, state.settings.move_budget, state.settings.turn_min)
    client.owes = False


def _claim_at(state: DeviceState, roster: Roster, head: Client, now: float) -> float:
    goes_before = outranks(head, roster)
    if roster.regime.is_sliced or is_outranked(head, roster):
        return inf
    if not goes_before and not head.claims:
        return inf
    count_budgets(state, now)
    wait = _wait(state, roster, head)
    if not goes_before:
        protected = (protected_seconds(c, state, roster, now) for c in roster.in_the_way)
        wait = max([wait, claim_holds_at(head, state, roster) - now, *protected])
    return now + wait


def _wait(state: DeviceState, roster: Roster, head: Client) -> float:
    settings, cost = state.settings, claim_cost(state, roster, head)
    if _has_own_budget(state, head):
        return state.high_budget.wait(cost, settings.high_move_budget, settings.turn_min)
    goes_first = all(head.standing <= standing_of(priority) for priority in roster.classes)
    left = 0.0 if goes_first else LEFT_TO_OTHERS
    return state.budget.wait(cost, settings.move_budget, settings.turn_min, left)


def _has_own_budget(state: DeviceState, head: Client) -> bool:
    return state.settings.high_move_budget > 0 and head.usual_standing == BEST_STANDING
