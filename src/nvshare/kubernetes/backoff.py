"""How long to wait before trying again: longer each time, and with jitter."""

import random
from collections.abc import Callable


class Backoff:
    """Pauses that double from ``first`` to ``most``, each shortened at random by up to a half."""

    def __init__(
        self, first: float, most: float, chance: Callable[[], float] = random.random
    ) -> None:
        self._first = first
        self._most = most
        self._next = first
        self._chance = chance

    def pause(self) -> float:
        """Return the next pause."""
        pause = self._next
        self._next = min(self._most, pause * 2)
        return pause * (1 - self._chance() / 2)

    def reset(self) -> None:
        """Start over, after a success."""
        self._next = self._first
