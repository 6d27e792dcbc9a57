"""What nobody has caught on the event loop, as lines of the log. The daemon goes on.

asyncio tells of one connection that cannot be accepted, for want of descriptors, a hundred times
over, and again each second. That is no mistake in a program: one line a while is enough for it.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from nvshare.daemon.identity import EXHAUSTED
from nvshare.daemon.logs import fields

log = logging.getLogger("nvshare.daemon")

_PAUSE = 5.0


class Mishaps:
    """Hears of exceptions; is the exception handler of an event loop."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._not_before = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Write a line, with where it came from, if that can be of use."""
        del loop
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno in EXHAUSTED):
            log.error(context["message"], exc_info=error if error is not None else False)
        elif self._clock() >= self._not_before:
            self._not_before = self._clock() + _PAUSE
            log.warning("nobody can be let in for now", extra=fields(why=error.strerror))
