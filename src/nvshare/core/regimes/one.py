"""One client at a time, however small. Memory moves when turns change, if it has to."""

from nvshare.core.record.client import Client
from nvshare.core.record.device import RegimeName
from nvshare.core.regimes.regime import Place, Regime


class OneAtATime(Regime):
    """Every client counts, and there is room for one."""

    name = RegimeName.ONE

    def weigh(self, client: Client) -> int:
        """Count clients; of a gang's clients, one."""
        return int(not client.gang.rides)

    def parked_weight(self, client: Client) -> int:
        """Count a parked client while some of its memory has not left, and so is in the way."""
        return int(client.staying > 0)

    def place(self, client: Client) -> Place:
        """No client computes beside another."""
        del client
        return Place.IN_TURN
