"""One at a time, whatever it has. Memory moves when turns change, if it has to."""

from nvshare.core.client import Client
from nvshare.core.regimes.regime import Place, Regime
from nvshare.core.state import RegimeName


class OneAtATime(Regime):
    """Everybody counts, and there is room for one."""

    name = RegimeName.ONE

    def weigh(self, client: Client) -> int:
        """Count heads; of those of a gang, one."""
        return int(not client.rides)

    def claim(self, client: Client) -> int:
        """What the host cannot hold is in the way of who is let run, however few they are."""
        return int(client.staying > 0)

    def place(self, client: Client) -> Place:
        """Nobody computes beside anybody."""
        del client
        return Place.IN_TURN
