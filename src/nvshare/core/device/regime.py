"""The change to the regime that the present clients call for."""

from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Effect
from nvshare.core.regimes import choose_regime
from nvshare.core.turns.soft_revoke import relax


def follow_regime(roster: Roster, now: float) -> list[Effect]:
    """Change to the regime that the present clients call for."""
    state = roster.state
    regime = choose_regime(
        state.settings,
        fits=roster.memory_suffices,
        classes=len(roster.classes),
        busy=roster.busy,
    )
    if regime is roster.regime:
        return []
    # Clients were asked to give way under the rules of the old regime.
    effects = relax(roster, now)
    roster.set_regime(regime)
    state.deadline = None
    if regime.is_sliced:
        state.turn_started, state.kept_until = now, 0.0
    return effects
