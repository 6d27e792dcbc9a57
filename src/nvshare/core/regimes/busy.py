"""Everything fits, and several compute all the time: these take short turns among themselves.

The GPU's own switching between them costs more. The others run beside them.
"""

from nvshare.core.client import Client
from nvshare.core.regimes.regime import Place, Regime
from nvshare.core.roster import Roster
from nvshare.core.settings import Settings
from nvshare.core.state import DeviceState, RegimeName

# Where others wait for very short turns, a rest is soon as long as one. So many fit into one.
RESTS_IN_A_TURN = 5


class Sliced(Regime):
    """Turns that are not for memory."""

    is_sliced = True

    def least_turn(self, settings: Settings) -> float:
        """Nothing has to pay: who goes before others need not wait."""
        del settings
        return 0.0

    def turn_seconds(self, state: DeviceState, roster: Roster, head: Client) -> float:
        """All turns are of one length."""
        del head
        return self.usual_turn(state.settings, roster)

    def short_rest(self, state: DeviceState, roster: Roster) -> float:
        """Say how long a rest may be where turns are very short."""
        turn = self.usual_turn(state.settings, roster)
        return min(state.settings.idle_grace, turn / RESTS_IN_A_TURN)


class Busy(Sliced):
    """Those count who compute all the time, and there is room for one of them."""

    name = RegimeName.BUSY

    def weigh(self, client: Client) -> int:
        """Who rests now and then is in nobody's way."""
        return int(client.busy and not client.rides)

    def place(self, client: Client) -> Place:
        """Those who are busy compute one after the other, beside the rest."""
        return Place.IN_TURN if client.busy else Place.BESIDE

    def usual_turn(self, settings: Settings, roster: Roster) -> float:
        """Turns are very short where shares of compute have to be kept."""
        return settings.share_slice_seconds if roster.with_share else settings.slice_seconds

    def rest_seconds(
        self, state: DeviceState, roster: Roster, client: Client, head: Client
    ) -> float:
        """And so are rests."""
        if roster.with_share:
            return self.short_rest(state, roster)
        return super().rest_seconds(state, roster, client, head)
