"""Everything fits, and several clients compute all the time: these take slices.

The GPU's own switching between them costs more. The others run beside them.
"""

from nvshare.core.clients.roster import Roster
from nvshare.core.record.client import Client
from nvshare.core.record.device import DeviceState, RegimeName
from nvshare.core.regimes.regime import Place, Regime
from nvshare.core.settings import Settings

# Where turns are very short, a rest must be shorter: so many fit into a turn.
RESTS_IN_A_TURN = 5


class Sliced(Regime):
    """A regime with slices: turns that are not for memory."""

    is_sliced = True

    def least_turn(self, settings: Settings) -> float:
        """Return 0: no memory moves, so a client of higher priority need not wait."""
        del settings
        return 0.0

    def turn_seconds(self, state: DeviceState, roster: Roster, head: Client) -> float:
        """Return the usual length: all turns have the same."""
        del head
        return self.usual_turn(state.settings, roster)

    def short_rest(self, state: DeviceState, roster: Roster) -> float:
        """Return how long a rest may be where turns are very short."""
        turn = self.usual_turn(state.settings, roster)
        return min(state.settings.idle_grace, turn / RESTS_IN_A_TURN)


class Busy(Sliced):
    """Busy clients count, and there is room for one of them."""

    name = RegimeName.BUSY

    def weigh(self, client: Client) -> int:
        """Count busy clients: one that rests now and then is in no client's way."""
        return int(client.work.busy and not client.gang.rides)

    def place(self, client: Client) -> Place:
        """Busy clients compute one after the other, beside the rest."""
        return Place.IN_TURN if client.work.busy else Place.BESIDE

    def usual_turn(self, settings: Settings, roster: Roster) -> float:
        """Return the length of a slice. It is very short where clients have shares of compute."""
        return settings.share_slice_seconds if roster.with_share else settings.slice_seconds

    def rest_seconds(
        self, state: DeviceState, roster: Roster, client: Client, head: Client
    ) -> float:
        """Return how long a client may rest. With shares, rests are very short too."""
        if roster.with_share:
            return self.short_rest(state, roster)
        return super().rest_seconds(state, roster, client, head)
