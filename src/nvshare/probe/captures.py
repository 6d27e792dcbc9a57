"""Captures graphs with a side stream, again and again, and checks their results.

Few calls are allowed during a capture, and the interposer must not make any others in the program's
streams when a turn ends.
"""

import contextlib
import ctypes
from typing import Any

from nvshare.probe.driver import NO_TIMING, CudaError
from nvshare.probe.gpu import MIB, Gpu

_SIZE = 4 * MIB
# A capture stays open for up to half of a turn.
_PAUSE_S = 0.05
_THREAD_LOCAL = 1


def capture_again_and_again(gpu: Gpu, seconds: float) -> dict[str, Any]:
    """Capture for this many seconds; return the number of captures, failures and wrong words."""
    until = gpu.clock.now() + seconds
    captures = failures = wrong = 0
    words = ""
    with contextlib.ExitStack() as stack:
        rig = _Rig(gpu, stack)
        while gpu.clock.now() < until:
            captures += 1
            try:
                wrong += rig.round(captures)
            except CudaError as error:
                failures, words = failures + 1, str(error)
                break
    return {"captures": captures, "failures": failures, "wrong": wrong, "error": words}


class _Rig:
    """Two streams, two events, and memory of which each stream writes a half."""

    def __init__(self, gpu: Gpu, stack: contextlib.ExitStack) -> None:
        self._gpu = gpu
        self._main, self._side = (stack.enter_context(gpu.stream()) for _ in range(2))
        self._fork, self._join = (stack.enter_context(gpu.event(NO_TIMING)) for _ in range(2))
        self._memory = stack.enter_context(gpu.plain(_SIZE))
        self._wrong = stack.enter_context(gpu.plain(8))

    def round(self, seed: int) -> int:
        """Capture, launch and check once; return how many words are wrong."""
        gpu, driver = self._gpu, self._gpu.driver
        graph = self._capture(seed)
        try:
            ready = driver.handle("cuGraphInstantiateWithFlags", graph, 0)
            try:
                driver.call("cuGraphLaunch", ready, self._main)
                gpu.wait(self._main)
            finally:
                driver.call("cuGraphExecDestroy", ready)
        finally:
            driver.call("cuGraphDestroy", graph)
        return self._check(seed)

    def _capture(self, seed: int) -> int:
        gpu, driver, half = self._gpu, self._gpu.driver, _SIZE // 2
        driver.call("cuStreamBeginCapture_v2", self._main, _THREAD_LOCAL)
        gpu.record(self._fork, self._main)
        driver.call("cuStreamWaitEvent", self._side, self._fork, 0)
        gpu.write(self._memory, half, self._main, seed)
        gpu.clock.sleep(_PAUSE_S)
        gpu.write(self._memory + half, half, self._side, seed + 1)
        gpu.record(self._join, self._side)
        driver.call("cuStreamWaitEvent", self._main, self._join, 0)
        graph = ctypes.c_void_p()
        driver.call("cuStreamEndCapture", self._main, ctypes.byref(graph))
        return graph.value or 0

    def _check(self, seed: int) -> int:
        gpu, half = self._gpu, _SIZE // 2
        gpu.driver.call("cuMemsetD8Async", self._wrong, 0, 8, self._main)
        gpu.count_wrong(self._memory, half, self._wrong, self._main, seed)
        gpu.count_wrong(self._memory + half, half, self._wrong, self._main, seed + 1)
        gpu.wait(self._main)
        return gpu.read_number(self._wrong)
