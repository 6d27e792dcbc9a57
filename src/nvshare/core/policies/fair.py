"""The default: the client that has gone longest without a turn is next."""

from typing import TYPE_CHECKING

from nvshare.core.policies import HEAD_START_TURNS, Policy, head_start, policy
from nvshare.core.settings import Settings

if TYPE_CHECKING:
    # Settings know the names of the policies, and `nvshare run` must not wait for the whole core.
    from nvshare.core.record.client import Client


@policy("fair")
class Fair(Policy):
    """By the end of the last turn; a client that never had one counts from when it joined.

    So no client can pass the same waiting client twice.
    """

    def rank(self, client: "Client", settings: Settings, turn: float) -> float:
        """Return when it was last served, with a head start for its priority."""
        del settings
        return client.precedence.served_at - head_start(client, HEAD_START_TURNS * turn)
