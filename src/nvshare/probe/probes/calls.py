"""What calls cost the caller, how soon a kernel runs, and how many launches fit in the queue.

The costs include Python's own, which is measured separately and subtracted. They are good enough
to tell a call that only works in memory from one that enters the kernel.
"""

import contextlib
import ctypes
import statistics
import time
from collections.abc import Callable

from nvshare.probe.bench import Bench
from nvshare.probe.driver import SIGNATURES
from nvshare.probe.gpu import Gpu, parameter_list

_CALLS = 400
_BEHIND = 200
_DEEPEST = 20_000
# Real seconds: Python needs them for so many launches.
_LONG_SHIELD_S = 0.5
_BLOCKED_S = 0.02


def probe(bench: Bench) -> None:
    """Call."""
    with contextlib.ExitStack() as stack:
        gpu = stack.enter_context(bench.gpu())
        stream, event = stack.enter_context(gpu.stream()), stack.enter_context(gpu.event())
        kernel = _Kernel(gpu, stream, stack.enter_context(gpu.plain(256)))
        kernel.launch()
        gpu.wait(stream)
        _costs(bench, gpu, stream, event, kernel)
        floor = _floor(gpu, stream, kernel.launch)
        bench.readings.note("calls.kernel_floor_us", floor * 1e6)
        # Python has to prepare eleven arguments before each launch.
        own = (_cost(kernel.pretend) - _cost(lambda: _nothing(1))) * 1e-9 * bench.clock.speed
        latency = _latency(bench, gpu, stream, kernel.launch) - floor - own
        bench.readings.note("calls.launch_latency_us", max(0.0, latency) * 1e6)
        _depth(bench, gpu, stream, kernel.launch)


# A function that does nothing: its cost is Python's own.
_nothing: Callable[..., int] = ctypes.CDLL(None).abs


class _Kernel:
    """A kernel that does almost nothing, with everything prepared in advance."""

    def __init__(self, gpu: Gpu, stream: int, memory: int) -> None:
        self._function = gpu.driver.function("cuLaunchKernel")
        self._pretence = ctypes.CDLL(None).abs
        self._pretence.argtypes = SIGNATURES["cuLaunchKernel"]
        parameters = parameter_list([ctypes.c_uint64(number) for number in (memory, 32, 1)])
        kernel = ctypes.c_void_p(gpu.function("nvshare_pattern_u64"))
        lane = ctypes.c_void_p(stream)
        self._arguments = (kernel, 1, 1, 1, 32, 1, 1, 0, lane, parameters, None)

    def launch(self) -> int:
        """Launch it."""
        return self._function(*self._arguments)

    def pretend(self) -> int:
        """Call a function that ignores its arguments, with the same arguments."""
        return int(self._pretence(*self._arguments))


def _costs(bench: Bench, gpu: Gpu, stream: int, event: int, kernel: _Kernel) -> None:
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    record, query = gpu.driver.function("cuEventRecord"), gpu.driver.function("cuEventQuery")
    info = gpu.driver.function("cuMemGetInfo_v2")
    calls: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "launch": (kernel.launch, kernel.pretend),
        "event_record": (lambda: record(event, stream), lambda: _nothing(1)),
        "event_query": (lambda: query(event), lambda: _nothing(1)),
        "mem_get_info": (
            lambda: info(ctypes.byref(free), ctypes.byref(total)),
            lambda: _nothing(1),
        ),
    }
    for name, (call, own) in calls.items():
        gpu.wait(stream)
        bench.readings.note(f"calls.{name}_ns", max(0.0, _cost(call) - _cost(own)))
    gpu.wait(stream)


def _cost(call: Callable[..., object]) -> float:
    """Return nanoseconds of real time: the caller's CPU is never emulated."""
    spent = []
    for _ in range(_CALLS):
        began = time.perf_counter_ns()
        call()
        spent.append(time.perf_counter_ns() - began)
    return statistics.median(spent)


def _floor(gpu: Gpu, stream: int, launch: Callable[[], int]) -> float:
    """Return the shortest time between kernels, from many queued behind a long one."""
    with gpu.event() as before, gpu.event() as after:
        gpu.shield(stream)
        gpu.record(before, stream)
        for _ in range(_BEHIND):
            launch()
        gpu.record(after, stream)
        gpu.wait(stream)
        return gpu.between(before, after) / _BEHIND


def _latency(bench: Bench, gpu: Gpu, stream: int, launch: Callable[[], int]) -> float:
    """Return how much a kernel in an idle stream delays the event after it."""
    record = gpu.driver.function("cuEventRecord")
    lane = ctypes.c_void_p(stream)
    with gpu.event() as before, gpu.event() as after:
        first, second = ctypes.c_void_p(before), ctypes.c_void_p(after)

        def once(action: Callable[[], object]) -> float:
            record(first, lane)
            action()
            record(second, lane)
            gpu.wait(stream)
            return gpu.between(before, after)

        # The minimum, because other load on the machine only adds time.
        rounds = 100 if bench.quick else 500
        empty = min(once(lambda: None) for _ in range(rounds))
        return min(once(launch) for _ in range(rounds)) - empty


def _depth(bench: Bench, gpu: Gpu, stream: int, launch: Callable[[], int]) -> None:
    """Find out how many launches are queued before a call has to wait."""
    gpu.shield(stream, _LONG_SHIELD_S)
    depth = None
    for count in range(_DEEPEST):
        began = time.perf_counter()
        launch()
        if time.perf_counter() - began > _BLOCKED_S:
            # The kernel that blocks the stream is in the queue, too.
            depth = count + 1
            break
    gpu.wait(stream)
    why = f"{_DEEPEST} launches went in without waiting"
    bench.readings.note("calls.queue_depth", depth, why)
