"""First come, first served."""

from nvshare.core.client import Client
from nvshare.core.policies import Policy, policy


@policy("fifo")
class Fifo(Policy):
    """By the time at which the client began to wait."""

    def rank(self, client: Client) -> float:
        """Return when it began to wait."""
        return client.since
