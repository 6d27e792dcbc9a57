"""First come, first served."""

from typing import TYPE_CHECKING

from nvshare.core.policies import HEAD_START_TURNS, Policy, head_start, policy
from nvshare.core.settings import Settings

if TYPE_CHECKING:
    # Settings know the names of the policies, and `nvshare run` must not wait for the whole core.
    from nvshare.core.record.client import Client


@policy("fifo")
class Fifo(Policy):
    """By the time at which the client began to wait."""

    def rank(self, client: "Client", settings: Settings, turn: float) -> float:
        """Return when it began to wait, with a head start for its priority."""
        del settings
        return client.since - head_start(client, HEAD_START_TURNS * turn)
