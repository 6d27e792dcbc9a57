"""The table of registered clients. registration.py fills it; nothing follows from a change here."""

from collections import Counter, defaultdict
from collections.abc import Collection

from nvshare.daemon.clients.client import Client
from nvshare.daemon.gpus.survey import Gpu


class Clients:
    """All registered clients, by their numbers and by GPU."""

    def __init__(self) -> None:
        self._by_id: dict[int, Client] = {}
        self._by_gpu: defaultdict[str, dict[int, Client]] = defaultdict(dict)
        # By GPU, the counters of clients that have left, and the number of turns handed over.
        self.departed: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.handovers: Counter[str] = Counter()

    def add(self, client: Client) -> None:
        """Add a client."""
        self._by_id[client.id] = self._by_gpu[client.gpu.uuid][client.id] = client

    def remove(self, client: Client) -> None:
        """Remove a client."""
        del self._by_id[client.id], self._by_gpu[client.gpu.uuid][client.id]

    def all(self) -> Collection[Client]:
        """Every client, in the order in which they have joined."""
        return self._by_id.values()

    def get(self, number: int) -> Client | None:
        """Return a client, if it is still here."""
        return self._by_id.get(number)

    def of(self, gpu: Gpu) -> Collection[Client]:
        """Return the clients of a GPU."""
        return self._by_gpu[gpu.uuid].values()

    def __contains__(self, number: int) -> bool:
        return number in self._by_id

    def __len__(self) -> int:
        return len(self._by_id)
