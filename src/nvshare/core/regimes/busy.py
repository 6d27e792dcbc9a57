"""Everything fits, and several clients compute all the time: these take slices.

The GPU's own switching between them costs more. The others run beside them.
"""

from nvshare.core.record.client import Client
from nvshare.core.record.device import RegimeName
from nvshare.core.regimes.regime import Place, Regime
from nvshare.core.settings import Settings


class Sliced(Regime):
    """A regime with slices: turns that are not for memory."""

    is_sliced = True

    def least_turn(self, settings: Settings) -> float:
        """Return 0: no memory moves, so a client of higher priority need not wait."""
        del settings
        return 0.0


class Busy(Sliced):
    """Busy clients count, and there is room for one of them."""

    name = RegimeName.BUSY

    def weigh(self, client: Client) -> int:
        """Count busy clients: one that rests now and then is in no client's way."""
        return int(client.work.busy and not client.gang.rides)

    def place(self, client: Client) -> Place:
        """Busy clients compute one after the other, beside the rest."""
        return Place.IN_TURN if client.work.busy else Place.BESIDE

    def usual_turn(self, settings: Settings, *, has_shares: bool) -> float:
        """Return the length of a slice. It is very short where clients have shares of compute."""
        return settings.share_slice_seconds if has_shares else settings.slice_seconds

    def rests_are_short(self, *, has_shares: bool) -> bool:
        """Whether slices are very short."""
        return has_shares
