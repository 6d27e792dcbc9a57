"""Logs uncaught exceptions of the event loop. The daemon goes on.

Without free descriptors, asyncio reports a connection that it cannot accept a hundred times, and
again each second. That is no programming error: one line now and then is enough.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from nvshare.daemon.logs import fields
from nvshare.daemon.tenants.identity import EXHAUSTED

log = logging.getLogger("nvshare.daemon")

_PAUSE = 5.0


class LoopErrors:
    """The exception handler of an event loop."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._not_before = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log an exception, with its traceback if that is useful."""
        del loop
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno in EXHAUSTED):
            log.error(context["message"], exc_info=error if error is not None else False)
        elif self._clock() >= self._not_before:
            self._not_before = self._clock() + _PAUSE
            log.warning("no connection can be accepted for now", extra=fields(why=error.strerror))
