"""Two processes that compute at the same time, as NVML sees them: their memory, and their time."""

import os

from nvshare.probe.bench import Bench
from nvshare.probe.busy import keep_busy
from nvshare.probe.gpu import MIB
from nvshare.probe.helper import Helper
from nvshare.probe.readings import Unavailable

_SECONDS = 3.0
_QUICK_SECONDS = 1.5
_PLAIN = 64 * MIB


def probe(bench: Bench) -> None:
    """Keep the GPU busy from both processes."""
    readings, nvml = bench.readings, bench.nvml
    with bench.gpu() as gpu, gpu.stream() as stream, Helper(bench.ordinal) as helper:
        helper.ask("hello")
        before = nvml.process_bytes().get(helper.pid)
        if before is None:
            raise Unavailable(
                "NVML knows processes by other pids here, or does not report their memory"
            )
        helper.ask("plain", size=_PLAIN)
        after = nvml.process_bytes().get(helper.pid) or 0
        readings.note("side_by_side.plain_bytes", _PLAIN)
        readings.note("side_by_side.plain_seen_bytes", after - before)
        # NVML takes a sample every sixth of a real second on any node.
        real = _QUICK_SECONDS if bench.quick else _SECONDS
        seconds = real * max(1.0, bench.clock.speed)
        _, newest = nvml.process_percent(0)
        helper.tell("busy", seconds=seconds)
        kernels = keep_busy(gpu, stream, seconds)
        percent, _ = nvml.process_percent(newest)
        helper_kernels = helper.answer()["kernels"]
        readings.note("side_by_side.own_kernels", kernels)
        readings.note("side_by_side.helper_kernels", helper_kernels)
        why = "NVML has no samples of this process"
        readings.note("side_by_side.own_percent", percent.get(os.getpid()), why)
        readings.note("side_by_side.helper_percent", percent.get(helper.pid), why)
