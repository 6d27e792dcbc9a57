"""The timer of the notice that explains a long wait: who has waited for long is told once."""

import asyncio
from collections.abc import Callable


class WaitNotice:
    """A timer beside a program's wait, which speaks once if the wait takes too long."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._is_said = False
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, seconds: float, speak: Callable[[float], bool]) -> None:
        """Start the timer. 0 seconds: the wait is never too long.

        ``speak`` gets the time waited, and returns whether it has said something.
        """
        self.end()
        if seconds and not self._is_said:
            self._timer = self._loop.call_later(seconds, self._fire, seconds, speak)

    def end(self) -> None:
        """Stop the timer: the program has its turn, or is gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fire(self, seconds: float, speak: Callable[[float], bool]) -> None:
        self._timer = None
        self._is_said = speak(seconds)
