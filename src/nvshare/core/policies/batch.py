"""One after the other: who computes all the time runs to its end, in groups that fit.

Memory moves once for each program, and of equal programs the first has its result after one part of
the time instead of all of them at the end. Who computes in bursts, or has a higher priority, still
comes in between (claims.py).
"""

from nvshare.core.client import Client
from nvshare.core.policies import Policy, policy


@policy("batch")
class Batch(Policy):
    """By arrival; who has had a turn to its bound comes behind those who wait."""

    runs_to_end = True

    def rank(self, client: Client) -> float:
        """Return when it was last served, or joined."""
        return client.served_at
