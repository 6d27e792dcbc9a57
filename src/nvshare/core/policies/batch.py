"""One after the other: a client that computes all the time runs to its end, in groups that fit.

Memory moves once for each program. Of n equal programs, the first has its result after 1/n of the
time, instead of all of them at the end. A client that computes in bursts, or has a higher priority,
still comes in between (precedence/).
"""

from typing import TYPE_CHECKING

from nvshare.core.policies import HEAD_START_TURNS, Policy, head_start, policy
from nvshare.core.settings import Settings

if TYPE_CHECKING:
    # Settings know the names of the policies, and `nvshare run` must not wait for the whole core.
    from nvshare.core.record.client import Client


@policy("batch")
class Batch(Policy):
    """By arrival. A client whose turn was ended by ``batch_turn`` comes behind all that wait."""

    runs_to_end = True

    def rank(self, client: "Client", settings: Settings, turn: float) -> float:
        """Return when it was last served, or joined, with a head start for its priority."""
        longest = settings.batch_turn + HEAD_START_TURNS * turn
        return client.precedence.served_at - head_start(client, longest)
