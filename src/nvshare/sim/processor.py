"""The compute engine of a GPU: one context at a time, in slices, and a loss at every change.

The same rules as native/emulator/model/compute.c, but nothing is stepped through: between two
completions all contexts with work get one slice per round, so whole rounds are jumped over.
"""

from bisect import insort
from math import ceil, inf

# Differences below a nanosecond are rounding, not work. After a day, neighbouring floats of seconds
# are 1e-11 apart: an event that is nearer than that would never come.
DUST = 1e-9


class Processor:
    """Contexts with work, by their place in the round. Times are seconds."""

    def __init__(self, slice_seconds: float, switch_seconds: float) -> None:
        self._slice = slice_seconds
        self._switch = switch_seconds
        self._left: dict[int, float] = {}
        self._ring: list[int] = []
        self._current: int | None = None
        self._slice_left = 0.0
        self._switch_left = 0.0
        self.busy = 0.0

    def start(self, place: int, seconds: float) -> None:
        """Give a context work."""
        self._left[place] = seconds
        insort(self._ring, place)

    def left(self, place: int) -> float:
        """Return how much of a context's work is left."""
        return self._left[place]

    def shorten(self, place: int, seconds: float) -> None:
        """Let a context have only so much work left."""
        self._left[place] = min(seconds, self._left[place])

    def stop(self, place: int) -> None:
        """Take a context's work away."""
        del self._left[place]
        self._ring.remove(place)

    def next(self) -> tuple[float, int | None]:
        """Return when something happens next: a context is done, or (None) a switch ends."""
        self._choose()
        left, current = self._left, self._current
        if not left:
            return inf, None
        if current not in left:
            return self._switch_left, None
        if len(left) == 1:
            return self._switch_left + left[current], current
        return min((self._done_in(place, distance), place) for distance, place in self._round())

    def advance(self, seconds: float) -> None:
        """Let time pass, at most until something happens."""
        self._choose()
        left = self._left
        if left:
            self.busy += seconds
        count = len(left)
        if count > 1 and self._current in left:
            # In a whole round everybody gets one slice, wherever the round is taken up.
            length = count * (self._slice + self._switch)
            rounds = int(seconds / length)
            if rounds:
                seconds -= rounds * length
                for place in left:
                    left[place] = max(0.0, left[place] - rounds * self._slice)
        while seconds > DUST:
            seconds = self._step(seconds)

    def _round(self) -> "list[tuple[int, int]]":
        """Return everybody with the distance from the current one, which comes last in turn."""
        ring, count = self._ring, len(self._ring)
        at = ring.index(self._current)  # type: ignore[arg-type]
        return [((place - at) % count or count, ring[place]) for place in range(count)]

    def _done_in(self, place: int, distance: int) -> float:
        left = self._left[place]
        start = self._switch_left + self._slice_left
        if place == self._current:
            left -= self._slice_left
            if left <= DUST:
                return start + left
        slices = max(1, ceil((left - DUST) / self._slice))
        waits = (distance - 1) + (slices - 1) * len(self._ring)
        last = left - (slices - 1) * self._slice
        return start + waits * (self._slice + self._switch) + self._switch + last

    def _choose(self) -> None:
        if self._switch_left > DUST or not self._left:
            return
        self._switch_left = 0.0
        has_work = self._current in self._left
        if has_work and (self._slice_left > DUST or len(self._left) == 1):
            if self._slice_left <= DUST:
                self._slice_left = self._slice
            return
        first = self._current is None
        self._current = self._after(self._current)
        self._slice_left = self._slice
        if not first:
            self._switch_left = self._switch

    def _after(self, current: int | None) -> int:
        if current is not None:
            for place in self._ring:
                if place > current:
                    return place
        return self._ring[0]

    def _step(self, seconds: float) -> float:
        """Let time pass until the next slice at most. Returns what remains of it."""
        self._choose()
        if self._switch_left > DUST:
            spent = min(seconds, self._switch_left)
            self._switch_left -= spent
            return seconds - spent
        current = self._current
        if current is None or current not in self._left:
            return 0.0
        if len(self._left) == 1:
            self._left[current] = max(0.0, self._left[current] - seconds)
            self._roll(seconds)
            return 0.0
        spent = min(seconds, self._slice_left)
        self._left[current] = max(0.0, self._left[current] - spent)
        self._slice_left -= spent
        return seconds - spent

    def _roll(self, seconds: float) -> None:
        """Somebody alone has slices too; they follow each other without a switch."""
        self._slice_left -= seconds
        if self._slice_left < 0:
            self._slice_left += ceil(-self._slice_left / self._slice) * self._slice
