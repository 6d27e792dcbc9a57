"""The default: the client that has gone longest without a turn is next."""

from typing import TYPE_CHECKING

from nvshare.core.policies import Policy, policy

if TYPE_CHECKING:
    # Settings know the names of the policies, and `nvshare run` must not wait for the whole core.
    from nvshare.core.client import Client


@policy("fair")
class Fair(Policy):
    """By the end of the last turn; a client that never had one counts from when it joined.

    So a client that comes back after an hour goes before clients that have just been served, and
    no client can pass the same waiting client twice.
    """

    def rank(self, client: "Client") -> float:
        """Return when it was last served."""
        return client.served_at
