"""Clients compete for nothing: the modes without scheduling."""

from nvshare.core.record.client import Client
from nvshare.core.record.device import RegimeName
from nvshare.core.regimes.regime import Regime


class Together(Regime):
    """All clients run, however large. The driver pages memory that does not fit."""

    name = RegimeName.TOGETHER
    takes_turns = False

    def weigh(self, client: Client) -> int:
        """Return 0: no client is in another's way."""
        del client
        return 0
