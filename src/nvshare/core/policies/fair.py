"""The default: whoever has gone longest without a turn is next."""

from nvshare.core.client import Client
from nvshare.core.policies import Policy, policy


@policy("fair")
class Fair(Policy):
    """By the end of the last turn; a client that never had one counts from when it joined.

    So somebody who comes back after an hour goes before those who have just been served, and
    nobody can pass the same waiter twice.
    """

    def rank(self, client: Client) -> float:
        """Return when it was last served."""
        return client.served_at
