"""How long a turn is. Knows bandwidth and lengths, but neither the queue nor any client's state."""

from copy import copy
from dataclasses import dataclass, field

from nvshare.core.settings import Settings

# Small moves measure latency, not bandwidth.
MEASURABLE_BYTES = 16 << 20
# How much a new measurement counts against all earlier ones.
WEIGHT_OF_NEW = 0.25
# One bad turn may be chance; from the second in a row on, turns get longer.
UNPRODUCTIVE_IN_A_ROW = 2
MAX_STRETCH = 1024.0
# No bus is slower, or faster (assumed: PCIe 1.0 with one lane, shared, and NVLink with a factor to
# spare for emulated GPUs that are faster than time). Measurements are clamped to this range.
SLOWEST, FASTEST = 16e6, 1e15
# Spans of moves that are closer than so many seconds are one, and so many are kept.
CLOSE, SPANS = 1e-3, 16
# Measurements of a client that has left still count, unless they differ by this factor.
ODD = 4.0


@dataclass(slots=True)
class Pace:
    """What a device has learned about moving memory: how fast it is, and whether it pays.

    At a change of turn one client's memory leaves while another's comes. So overlapping moves are
    one move here: its time is the time in which any of them went on, counted once, and its size is
    that of the fuller direction.
    """

    # Bytes per second of the fuller direction.
    bandwidth: float
    stretch: float = 1.0
    unproductive: int = 0
    # Seconds in all in which memory moved.
    moving: float = 0.0

    # The last move: when it began and ended, its bytes, and the bandwidth that was known before.
    began: float = 0.0
    ended: float = 0.0
    out_bytes: int = 0
    in_bytes: int = 0
    earlier: float = 0.0
    # More of it was announced.
    goes_on: bool = False
    # When memory has moved lately: spans that are in ``moving``, apart from each other.
    spans: tuple[tuple[float, float], ...] = ()
    # The bandwidth of the last move, and the client that reported it last.
    rate: float = 0.0
    teller: int | None = None
    # By client, its contribution to the bandwidth, and the weight of that; and the clients whose
    # turns have made turns longer, once for each time.
    told: dict[int, tuple[float, ...]] = field(default_factory=dict)
    stretched: tuple[int, ...] = ()

    def measure(
        self,
        now: float,
        seconds: float,
        *,
        out_bytes: int = 0,
        in_bytes: int = 0,
        more: bool = False,
        client: int | None = None,
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
            self._keep_apart()
            self.earlier, self.began, self.ended = self.bandwidth, began, now
            self.out_bytes, self.in_bytes = out_bytes, in_bytes
        self.goes_on = more
        size = max(self.out_bytes, self.in_bytes)
        if size >= MEASURABLE_BYTES:
            self.rate = max(SLOWEST, min(FASTEST, size / (self.ended - self.began)))
            self.teller = client
            self.bandwidth = self.earlier + WEIGHT_OF_NEW * (self.rate - self.earlier)

    def _keep_apart(self) -> None:
        """Add the last measurement to its client's contribution, with its present weight."""
        if self.teller is None:
            return
        left = 1 - WEIGHT_OF_NEW
        self.told = {one: (left * part, left * of) for one, (part, of) in self.told.items()}
        part, of = self.told.get(self.teller, (0.0, 0.0))
        self.told[self.teller] = (part + WEIGHT_OF_NEW * self.rate, of + WEIGHT_OF_NEW)
        self.teller = None

    def forget(self, client: int, initial: float) -> None:
        """Forget the measurements of a client that has left, if they were far from all others.

        Bandwidth is a weighted sum of measurements, so those of one client can be taken out again.
        """
        self._keep_apart()
        part, of = self.told.pop(client, (0.0, 0.0))
        rest = (self.bandwidth - part) / (1 - of) if of < 1 - 1e-3 else initial
        if not self.bandwidth / ODD <= rest <= self.bandwidth * ODD:
            self.bandwidth = self.earlier = max(SLOWEST, rest)
            self.told = {one: (p / (1 - of), o / (1 - of)) for one, (p, o) in self.told.items()}
        doublings = self.stretched.count(client)
        if doublings:
            self.stretch = max(1.0, self.stretch / 2**doublings)
            self.stretched = tuple(one for one in self.stretched if one != client)
            self.unproductive = 0

    def copy(self) -> "Pace":
        """Return a copy that no event will change."""
        twin = copy(self)
        twin.told = dict(self.told)
        return twin

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
        multiplier = settings.steady_multiplier if is_steady else settings.turn_multiplier
        if settings.turn_seconds is not None:
            length = settings.turn_seconds
        else:
            length = max(settings.turn_min, multiplier * swap_seconds)
        return min(length * self.stretch, settings.longest_turn)

    def judge(self, seconds: float, moving: float, client: int = 0) -> bool:
        """Learn from a turn that ended by order. True: a streak of bad ones has just begun.

        A turn is unproductive if less of it went into computing than into moving memory. The
        length is halved again only when half of it would have been productive by a margin, so
        that it does not swing to and fro.
        """
        if seconds < 2 * moving:
            self.unproductive += 1
            if self.unproductive >= UNPRODUCTIVE_IN_A_ROW and self.stretch < MAX_STRETCH:
                self.stretch *= 2
                self.stretched = (*self.stretched, client)
            return self.unproductive == UNPRODUCTIVE_IN_A_ROW
        self.unproductive = 0
        if seconds >= 6 * moving:
            self.stretch = max(1.0, self.stretch / 2)
            self.stretched = self.stretched[1:]
        return False
