"""How long a turn is. Knows bandwidth and lengths, but neither clients nor who is next."""

from dataclasses import dataclass

from nvshare.core.settings import Settings

# Small moves measure latency, not bandwidth.
MEASURABLE_BYTES = 16 << 20
# How much a new measurement counts against all earlier ones.
WEIGHT_OF_NEW = 0.25
# One bad turn may be chance; from the second in a row on, turns get longer.
UNPRODUCTIVE_IN_A_ROW = 2
MAX_STRETCH = 1024.0


@dataclass(slots=True)
class Pace:
    """What a device has learned about moving memory: how fast it is, and whether it pays."""

    bandwidth: float
    stretch: float = 1.0
    unproductive: int = 0

    def measure(self, moved_bytes: int, seconds: float) -> None:
        """Take a finished move into the moving average."""
        if moved_bytes >= MEASURABLE_BYTES and seconds > 0:
            self.bandwidth += WEIGHT_OF_NEW * (moved_bytes / seconds - self.bandwidth)

    def turn_length(self, settings: Settings, moved_bytes: int) -> float:
        """Return the length of a turn at whose end so many bytes have to move, out and in."""
        if settings.turn_seconds is not None:
            length = settings.turn_seconds
        else:
            swap = moved_bytes / self.bandwidth
            length = max(settings.turn_min, settings.turn_multiplier * swap)
        return min(length * self.stretch, settings.longest_turn)

    def judge(self, seconds: float, moving: float) -> bool:
        """Learn from a turn that ended by order. True: a streak of bad ones has just begun.

        A turn is unproductive if less of it went into computing than into moving memory. The
        length is halved again only when half of it would have been productive by a margin, so
        that it does not swing to and fro.
        """
        if seconds < 2 * moving:
            self.unproductive += 1
            if self.unproductive >= UNPRODUCTIVE_IN_A_ROW:
                self.stretch = min(2 * self.stretch, MAX_STRETCH)
            return self.unproductive == UNPRODUCTIVE_IN_A_ROW
        self.unproductive = 0
        if seconds >= 6 * moving:
            self.stretch = max(1.0, self.stretch / 2)
        return False
