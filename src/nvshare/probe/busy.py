"""Keeps a GPU busy with short kernels, a few of them queued ahead."""

import contextlib

from nvshare.probe.gpu import Gpu

_SPIN_S = 0.005
_AHEAD = 4


def keep_busy(gpu: Gpu, stream: int, seconds: float) -> int:
    """Run kernels one after the other for this many seconds; return how many."""
    until = gpu.clock.now() + seconds
    kernels = 0
    with contextlib.ExitStack() as stack:
        events = [stack.enter_context(gpu.event()) for _ in range(_AHEAD)]
        while gpu.clock.now() < until:
            event = events[kernels % _AHEAD]
            if kernels >= _AHEAD:
                gpu.driver.call("cuEventSynchronize", event)
            gpu.spin(_SPIN_S, stream)
            gpu.record(event, stream)
            kernels += 1
        gpu.wait(stream)
    return kernels
