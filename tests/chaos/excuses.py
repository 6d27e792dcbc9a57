"""The effects that a fault explains, and for how long: an idle GPU, a program without memory."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY_GPU = -1
# Programs may be refused memory: without a daemon no room is made for newcomers.
MEMORY = -2


class Excuses:
    """Faults that are going on, or have only just ended."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._under_way: list[int] = []
        self._until: dict[int, float] = {}

    @contextmanager
    def holding(self, *what: int, and_then: float) -> Iterator[None]:
        """Excuse GPUs, EVERY_GPU or MEMORY within this context, and so many seconds longer."""
        with self._lock:
            self._under_way += what
        try:
            yield
        finally:
            with self._lock:
                until = self._clock() + and_then
                for one in what:
                    self._under_way.remove(one)
                    self._until[one] = max(self._until.get(one, 0.0), until)

    def holds(self, gpu: int) -> bool:
        """Whether that GPU may be idle now."""
        return self._holds(gpu) or self._holds(EVERY_GPU)

    @property
    def memory_is_short(self) -> bool:
        """Whether programs may be refused memory now."""
        return self._holds(MEMORY)

    def _holds(self, what: int) -> bool:
        with self._lock:
            return what in self._under_way or self._until.get(what, 0.0) > self._clock()
