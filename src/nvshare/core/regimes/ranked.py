"""Everything fits, and some go before others: one at a time, by priority, in very short turns."""

from nvshare.core.client import Client
from nvshare.core.regimes.busy import Sliced
from nvshare.core.regimes.regime import Place
from nvshare.core.roster import Roster
from nvshare.core.settings import Settings
from nvshare.core.state import DeviceState, RegimeName


class Ranked(Sliced):
    """Everybody counts, and there is room for one."""

    name = RegimeName.RANKED

    def weigh(self, client: Client) -> int:
        """Count heads: who rests now and then may still hold up one who goes before it.

        Who cannot give way computes beside the others.
        """
        return int(not client.undrained and not client.rides)

    def place(self, client: Client) -> Place:
        """Nobody computes beside anybody, who can help it."""
        return Place.BESIDE if client.undrained else Place.IN_TURN

    def usual_turn(self, settings: Settings, roster: Roster) -> float:
        """So that nobody of high priority waits for long."""
        del roster
        return settings.share_slice_seconds

    def rest_seconds(
        self, state: DeviceState, roster: Roster, client: Client, head: Client
    ) -> float:
        """Others wait for very short turns."""
        del client, head
        return self.short_rest(state, roster)
