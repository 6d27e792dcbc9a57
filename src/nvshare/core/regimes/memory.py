"""Clients compete for the device's memory. Clients that fit run together; the others take turns."""

from nvshare.core.record.client import Client
from nvshare.core.record.device import RegimeName
from nvshare.core.regimes.regime import Regime


class ByMemory(Regime):
    """Bytes count, and there is room for as many as the device has."""

    name = RegimeName.MEMORY

    def weigh(self, client: Client) -> int:
        """Count the bytes that have to be on the device."""
        return client.memory.swappable

    def capacity(self, room: int) -> int:
        """Return all the room there is."""
        return room

    def parked_weight(self, client: Client) -> int:
        """Count the bytes of a parked client that are still there."""
        return client.staying
