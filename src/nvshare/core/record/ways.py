"""The two ways of making room at a change of turn, and which of them is the better one here.

MOVE_OUT   The client that gives its turn up moves memory to the host, the least recently used
           first, while the next client brings its own in at the same pace.
DISPLACE   It moves nothing. The next client brings its memory in, and the driver makes room by
           pushing out memory that came first. The driver's threads do not map every page for the
           CPU then.

Which is faster depends on the machine. So both are tried in the first turns, and measured by how
long the next client waits for its memory, per byte. DISPLACE is only possible where it is certain
whose memory came first: when one client makes room for one other, and no third client has memory on
the device. Otherwise the driver might push out memory that is in use, or is to stay.
"""

from dataclasses import dataclass

from nvshare.core.settings import Way

# Each way is tried so often before it is judged. The first moves allocate host pages, and take
# longer.
TRIALS = 3
# Smaller fills measure latency.
MEASURABLE_BYTES = 256 << 20
# How much a new measurement counts against all earlier ones.
WEIGHT_OF_NEW = 0.5
# DISPLACE has to be better by so much to be preferred. MOVE_OUT keeps recently used memory.
MARGIN = 0.05


@dataclass(slots=True)
class Ways:
    """What a device has learned about both ways: trials of each, and seconds per byte."""

    moved_out: int = 0
    displaced: int = 0
    moving_out: float = 0.0
    displacing: float = 0.0
    # How room is made for the next or present fill.
    present: Way | None = None

    @property
    def preferred(self) -> Way:
        """How room should be made where both ways are possible."""
        if min(self.moved_out, self.displaced) < TRIALS:
            return Way.DISPLACE if self.displaced < self.moved_out else Way.MOVE_OUT
        better = self.displacing < self.moving_out * (1 - MARGIN)
        return Way.DISPLACE if better else Way.MOVE_OUT

    def measure(self, size: int, seconds: float) -> None:
        """Learn from a fill that has ended."""
        way, self.present = self.present, None
        if size < MEASURABLE_BYTES or seconds <= 0:
            return
        rate = seconds / size
        if way is Way.MOVE_OUT:
            self.moving_out = _average(self.moving_out, rate, self.moved_out)
            self.moved_out += 1
        elif way is Way.DISPLACE:
            self.displacing = _average(self.displacing, rate, self.displaced)
            self.displaced += 1


def _average(before: float, rate: float, count: int) -> float:
    return before + WEIGHT_OF_NEW * (rate - before) if count else rate
