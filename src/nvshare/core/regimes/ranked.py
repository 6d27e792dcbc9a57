"""Everything fits, and priorities differ: one client at a time, by priority, in short slices."""

from nvshare.core.record.client import Client
from nvshare.core.record.device import RegimeName
from nvshare.core.regimes.busy import Sliced
from nvshare.core.regimes.regime import Place
from nvshare.core.settings import Settings


class Ranked(Sliced):
    """Every client counts, and there is room for one."""

    name = RegimeName.RANKED

    def weigh(self, client: Client) -> int:
        """Count clients: one that rests now and then may still hold up one of higher priority.

        A client that cannot give way computes beside the others.
        """
        return int(not client.drain.undrained and not client.gang.rides)

    def place(self, client: Client) -> Place:
        """No client computes beside another, except one that cannot give way."""
        return Place.BESIDE if client.drain.undrained else Place.IN_TURN

    def usual_turn(self, settings: Settings, *, has_shares: bool) -> float:
        """Return a very short length, so that no client of high priority waits for long."""
        del has_shares
        return settings.share_slice_seconds

    def rests_are_short(self, *, has_shares: bool) -> bool:
        """Return True: others wait for very short turns."""
        del has_shares
        return True
