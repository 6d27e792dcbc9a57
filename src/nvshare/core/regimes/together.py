"""Nobody competes for anything: the modes in which nothing is scheduled."""

from nvshare.core.client import Client
from nvshare.core.regimes.regime import Regime
from nvshare.core.state import RegimeName


class Together(Regime):
    """All run, whatever they have. What does not fit, the driver pages."""

    name = RegimeName.TOGETHER
    takes_turns = False

    def weigh(self, client: Client) -> int:
        """Nobody is in anybody's way."""
        del client
        return 0
