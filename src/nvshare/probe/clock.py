"""Time as the GPU counts it. On an emulated node a real second is ``speed`` seconds there."""

import os
import time
from collections.abc import Mapping

from nvshare.wire import environment


class Clock:
    """Reads the time, and sleeps."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self.speed = float(environ.get(environment.EMULATOR_SPEED) or 1)

    def now(self) -> float:
        """Return seconds since an arbitrary moment."""
        return time.perf_counter() * self.speed

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds / self.speed)
