"""How long a turn is. Knows bandwidth and lengths, but neither the queue nor any client's state."""

from dataclasses import dataclass

from nvshare.core.settings import Settings

# Small moves measure latency, not bandwidth.
MEASURABLE_BYTES = 16 << 20
# How much a new measurement counts against all earlier ones.
WEIGHT_OF_NEW = 0.25
# No bus is slower, or faster (assumed: PCIe 1.0 with one lane, shared, and NVLink with a factor to
# spare for emulated GPUs that are faster than time). Measurements are clamped to this range.
SLOWEST, FASTEST = 16e6, 1e15
# A measurement counts as no further from the earlier ones than by this factor: a client may lie.
ODD = 4.0
# Spans of moves that are closer than so many seconds are one, and so many are kept.
CLOSE, SPANS = 1e-3, 16
# A turn at whose end memory moves lasts so many times as long as the move: a sixth of the time is
# lost at most. Where all clients that take turns compute all the time, none of them notices a
# longer wait, and memory moves less often.
MULTIPLIER, STEADY_MULTIPLIER = 5.0, 60.0


@dataclass(slots=True)
class Pace:
    """What a device has learned about moving memory: how fast it is.

    At a change of turn one client's memory leaves while another's comes. So overlapping moves are
    one move here: its time is the time in which any of them went on, counted once, and its size is
    that of the fuller direction.
    """

    # Bytes per second of the fuller direction. FASTEST: nothing was measured yet.
    bandwidth: float
    # Seconds in all in which memory moved.
    moving: float = 0.0

    # The last move: when it began and ended, its bytes, and what was known before.
    began: float = 0.0
    ended: float = 0.0
    out_bytes: int = 0
    in_bytes: int = 0
    earlier: float = FASTEST
    # More of it was announced.
    goes_on: bool = False
    # When memory has moved lately: spans that are in ``moving``, apart from each other.
    spans: tuple[tuple[float, float], ...] = ()

    def measure(
        self,
        now: float,
        seconds: float,
        *,
        out_bytes: int = 0,
        in_bytes: int = 0,
        more: bool = False,
    ) -> None:
        """Take a move, or a part of one, that has taken the last ``seconds``."""
        if seconds <= 0:
            return
        began = now - seconds
        self._count(began, now)
        if began < self.ended or self.goes_on:
            self.began, self.ended = min(began, self.began), max(now, self.ended)
            self.out_bytes += out_bytes
            self.in_bytes += in_bytes
        else:
            self.earlier = self.bandwidth
            self.began, self.ended = began, now
            self.out_bytes, self.in_bytes = out_bytes, in_bytes
        self.goes_on = more
        size = max(self.out_bytes, self.in_bytes)
        if size >= MEASURABLE_BYTES:
            self._learn(max(SLOWEST, min(FASTEST, size / (self.ended - self.began))))

    def _learn(self, rate: float) -> None:
        if self.earlier == FASTEST:
            self.bandwidth = rate
            return
        rate = max(self.earlier / ODD, min(self.earlier * ODD, rate))
        self.bandwidth = self.earlier + WEIGHT_OF_NEW * (rate - self.earlier)

    def _count(self, began: float, now: float) -> None:
        """Add the time of a move to ``moving``, counting overlaps once.

        A client that leaves reports each part of its memory, and the one that comes reports all of
        it in the end: one long span over many short ones.
        """
        apart: list[tuple[float, float]] = []
        first, last, uncounted = began, now, now - began
        for span in self.spans:
            if span[1] < began - CLOSE or now + CLOSE < span[0]:
                apart.append(span)
            else:
                uncounted -= max(0.0, min(now, span[1]) - max(began, span[0]))
                first, last = min(first, span[0]), max(last, span[1])
        self.moving += uncounted
        self.spans = tuple(sorted((*apart, (first, last)))[-SPANS:])

    def swap_seconds(self, out_bytes: int, in_bytes: int) -> float:
        """Return how long it takes to move these bytes out and in at the same time."""
        return max(out_bytes, in_bytes, 0) / self.bandwidth

    def turn_length(
        self, settings: Settings, swap_seconds: float, *, is_steady: bool = False
    ) -> float:
        """Return the length of a turn at whose end memory has to move for ``swap_seconds``.

        ``is_steady``: all clients that take turns compute all the time.
        """
        if settings.turn_seconds is not None:
            return settings.turn_seconds
        multiplier = STEADY_MULTIPLIER if is_steady else MULTIPLIER
        return min(max(settings.turn_min, multiplier * swap_seconds), settings.longest_turn)
