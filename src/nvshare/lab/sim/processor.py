"""The compute engine of a GPU: one context at a time, in slices, and a loss at every change.

The same rules as lab/emulator/model/compute.c, but without single steps: between two completions
all contexts with work get one slice per round, so whole rounds are skipped.
"""

from bisect import insort
from collections.abc import Iterator
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
        # The time for which each context keeps the engine: a slice, or a fault that lasts longer.
        self._slices: dict[int, float] = {}
        self._ring: list[int] = []
        self._current: int | None = None
        self._slice_left = 0.0
        self._switch_left = 0.0
        self.busy = 0.0

    def start(self, place: int, seconds: float, piece: float = 0.0) -> None:
        """Give a context work. It keeps the engine until a piece of it is done, if that is long."""
        self._left[place] = seconds
        self._slices[place] = max(self._slice, piece)
        insort(self._ring, place)

    def left(self, place: int) -> float:
        """Return how much of a context's work is left."""
        return self._left[place]

    def shorten(self, place: int, seconds: float) -> None:
        """Let a context have only so much work left."""
        self._left[place] = min(seconds, self._left[place])

    def stop(self, place: int) -> None:
        """Take a context's work away."""
        del self._left[place], self._slices[place]
        self._ring.remove(place)

    def next(self) -> tuple[float, int | None]:
        """Return the time of the next event: a context is done, or (None) a switch ends."""
        self._choose()
        left, current = self._left, self._current
        if not left:
            return inf, None
        if current not in left:
            return self._switch_left, None
        if len(left) == 1:
            return self._switch_left + left[current], current
        return min((self._done_in(place, wait), place) for wait, place in self._round())

    def advance(self, seconds: float) -> None:
        """Let time pass, at most until the next event."""
        self._choose()
        left = self._left
        if left:
            self.busy += seconds
        count = len(left)
        if count > 1 and self._current in left:
            # In a whole round each context gets one slice, wherever the round begins.
            length = self._round_seconds
            rounds = int(seconds / length)
            if rounds:
                seconds -= rounds * length
                for place in left:
                    left[place] = max(0.0, left[place] - rounds * self._slices[place])
        while seconds > DUST:
            seconds = self._step(seconds)

    @property
    def _round_seconds(self) -> float:
        return sum(self._slices.values()) + len(self._slices) * self._switch

    def _round(self) -> "Iterator[tuple[float, int]]":
        """Return each context with its wait from the end of this slice; the current one is last."""
        at = self._ring.index(self._current)  # type: ignore[arg-type]
        wait = 0.0
        for place in (*self._ring[at + 1 :], *self._ring[: at + 1]):
            yield wait, place
            wait += self._slices[place] + self._switch

    def _done_in(self, place: int, wait: float) -> float:
        left = self._left[place]
        start = self._switch_left + self._slice_left
        if place == self._current:
            left -= self._slice_left
            if left <= DUST:
                return start + left
        slices = max(1, ceil((left - DUST) / self._slices[place]))
        last = left - (slices - 1) * self._slices[place]
        return start + wait + (slices - 1) * self._round_seconds + self._switch + last

    def _choose(self) -> None:
        if self._switch_left > DUST or not self._left:
            return
        self._switch_left = 0.0
        has_work = self._current in self._left
        if has_work and (self._slice_left > DUST or len(self._left) == 1):
            if self._slice_left <= DUST:
                self._slice_left = self._slices[self._current]  # type: ignore[index]
            return
        first = self._current is None
        self._current = self._after(self._current)
        self._slice_left = self._slices[self._current]
        if not first:
            self._switch_left = self._switch

    def _after(self, current: int | None) -> int:
        if current is not None:
            for place in self._ring:
                if place > current:
                    return place
        return self._ring[0]

    def _step(self, seconds: float) -> float:
        """Let time pass until the next slice at most. Returns the rest of the time."""
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
        """A context that is alone has slices too; they follow each other without a switch."""
        self._slice_left -= seconds
        if self._slice_left < 0:
            self._slice_left += ceil(-self._slice_left / self._slice) * self._slice
