"""A deadline for whole stories: it is put off as long as something happens."""

import time


class Patience:
    """Ends a test in which nothing happens any more, however fast the machine is."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._seen: tuple[object, ...] = ()
        self._ends = time.monotonic() + seconds

    def see(self, *figures: object) -> None:
        """Fail if these figures have been the same for too long."""
        if figures != self._seen:
            self._seen, self._ends = figures, time.monotonic() + self._seconds
        assert time.monotonic() < self._ends, (
            f"nothing has changed for {self._seconds} s: {figures}"
        )
