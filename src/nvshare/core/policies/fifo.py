"""First come, first served."""

from typing import TYPE_CHECKING

from nvshare.core.policies import Policy, policy

if TYPE_CHECKING:
    # Settings know the names of the policies, and `nvshare run` must not wait for the whole core.
    from nvshare.core.client import Client


@policy("fifo")
class Fifo(Policy):
    """By the time at which the client began to wait."""

    def rank(self, client: "Client") -> float:
        """Return when it began to wait."""
        return client.since
