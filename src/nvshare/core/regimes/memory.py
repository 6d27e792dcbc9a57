"""Clients compete for the device's memory. Those who fit run together; the others take turns."""

from nvshare.core.client import Client
from nvshare.core.regimes.regime import Regime
from nvshare.core.state import RegimeName


class ByMemory(Regime):
    """Bytes count, and there is room for as many as the device has."""

    name = RegimeName.MEMORY

    def weigh(self, client: Client) -> int:
        """Count what has to be on the device."""
        return client.memory.swappable

    def capacity(self, room: int) -> int:
        """Share out all the room there is."""
        return room

    def claim(self, client: Client) -> int:
        """Count what of a parked client is still there."""
        return client.staying
