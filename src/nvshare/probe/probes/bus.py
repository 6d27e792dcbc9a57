"""The bus by itself: copies between the GPU and pinned memory, each way and both at once."""

import contextlib
from collections.abc import Sequence

from nvshare.probe.bench import Bench, median
from nvshare.probe.gpu import MIB, Gpu

_SIZE = 256 * MIB


def probe(bench: Bench) -> None:
    """Copy."""
    size = min(_SIZE, bench.piece)
    with contextlib.ExitStack() as stack:
        gpu = stack.enter_context(bench.gpu())
        lanes = [_Lane(gpu, size, stack, out) for out in (False, True)]
        for lane in lanes:
            # The first copies also create pages and mappings.
            lane.copy()
            gpu.wait(lane.stream)
        into, out = (_alone(bench, gpu, lane) for lane in lanes)
        both = median(lambda: _together(gpu, lanes), bench.rounds)
    bench.readings.note("bus.in.gb_per_s", size / into / 1e9)
    bench.readings.note("bus.out.gb_per_s", size / out / 1e9)
    bench.readings.note("bus.duplex", (into + out) / both)


class _Lane:
    """A stream with copies in one direction."""

    def __init__(self, gpu: Gpu, size: int, stack: contextlib.ExitStack, out: bool) -> None:
        self._gpu, self._size, self._out = gpu, size, out
        self.stream = stack.enter_context(gpu.stream())
        self.begun = stack.enter_context(gpu.event())
        self.done = stack.enter_context(gpu.event())
        self._near = stack.enter_context(gpu.plain(size))
        self._far = stack.enter_context(gpu.pinned(size))

    def copy(self) -> None:
        driver = self._gpu.driver
        if self._out:
            driver.call("cuMemcpyDtoHAsync_v2", self._far, self._near, self._size, self.stream)
        else:
            driver.call("cuMemcpyHtoDAsync_v2", self._near, self._far, self._size, self.stream)


def _alone(bench: Bench, gpu: Gpu, lane: _Lane) -> float:
    return median(lambda: bench.timed(gpu, lane.stream, lane.copy).total, bench.rounds)


def _together(gpu: Gpu, lanes: Sequence[_Lane]) -> float:
    for lane in lanes:
        gpu.record(lane.begun, lane.stream)
    for lane in lanes:
        lane.copy()
    for lane in lanes:
        gpu.record(lane.done, lane.stream)
    for lane in lanes:
        gpu.wait(lane.stream)
    return max(gpu.between(lanes[0].begun, lane.done) for lane in lanes)
