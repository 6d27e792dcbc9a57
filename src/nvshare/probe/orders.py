"""The helper process: reads one order per line, carries it out, and answers with a line.

``python -m nvshare.probe.orders ORDINAL``; ``helper.py`` is the other side. It ends when its input
is closed, and with its parent.
"""

import contextlib
import ctypes
import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from nvshare.probe.busy import keep_busy
from nvshare.probe.captures import capture_again_and_again
from nvshare.probe.clock import Clock
from nvshare.probe.driver import CudaError, Driver
from nvshare.probe.gpu import BLOCK, Gpu
from nvshare.probe.readings import Unavailable
from nvshare.probe.runtime import Runtime

_DIE_WITH_PARENT = 1
_SIGKILL = 9


class Orders:
    """The orders that a helper knows. It keeps its allocations until it ends."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        gpu.load()
        self._open = contextlib.ExitStack()
        self._stream = self._open.enter_context(gpu.stream())
        self._result = self._open.enter_context(gpu.plain(8))
        self._first = 0
        self._first_size = 0

    def hello(self) -> dict[str, Any]:
        """Confirm that the context exists."""
        return {}

    def fill(self, size: int, first: int) -> dict[str, Any]:
        """Allocate managed memory: first some with a pattern in it, then the rest."""
        self._first, self._first_size = self._open.enter_context(self._gpu.managed(first)), first
        self._gpu.write(self._first, first, self._stream)
        self._gpu.wait(self._stream)
        rest = max(0, size - first) // BLOCK * BLOCK
        if rest:
            address = self._open.enter_context(self._gpu.managed(rest))
            self._gpu.prefetch(address, rest, self._stream)
            self._gpu.wait(self._stream)
        return {"free": self._gpu.free_and_total()[0]}

    def look(self) -> dict[str, Any]:
        """Read the memory with the pattern: how long that takes, and how much of it is wrong."""
        gpu, stream = self._gpu, self._stream
        gpu.driver.call("cuMemsetD8Async", self._result, 0, 8, stream)
        gpu.wait(stream)
        launch = partial(gpu.count_wrong, self._first, self._first_size, self._result, stream)
        seconds = gpu.kernel_seconds(stream, launch)
        return {"seconds": seconds, "wrong": gpu.read_number(self._result)}

    def plain(self, size: int) -> dict[str, Any]:
        """Allocate ordinary memory."""
        self._open.enter_context(self._gpu.plain(size))
        return {}

    def busy(self, seconds: float) -> dict[str, Any]:
        """Compute without a pause for this many seconds."""
        return {"kernels": keep_busy(self._gpu, self._stream, seconds)}

    def launch(self, count: int) -> dict[str, Any]:
        """Launch kernels through the driver."""
        for _ in range(count):
            self._gpu.spin(0, self._stream)
        self._gpu.wait(self._stream)
        return {}

    def launch_runtime(self, count: int) -> dict[str, Any]:
        """Launch kernels through the CUDA runtime."""
        runtime = Runtime.find()
        runtime.launch(count)
        return {"library": runtime.path}

    def capture(self, seconds: float) -> dict[str, Any]:
        """Capture graphs for this many seconds, with a second stream in each."""
        return capture_again_and_again(self._gpu, seconds)


def main(ordinal: int) -> None:
    """Carry out orders until the input is closed."""
    # If the parent dies, no other process would end this one, which holds memory of the GPU.
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, _SIGKILL)
    driver = Driver()
    driver.call("cuInit", 0)
    orders = Orders(Gpu(driver, Clock(), ordinal))
    for line in sys.stdin:
        order = json.loads(line)
        do: Callable[..., dict[str, Any]] = getattr(orders, order.pop("do"))
        try:
            answer = do(**order)
        except (CudaError, Unavailable) as error:
            answer = {"failed": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
