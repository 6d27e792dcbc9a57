"""Every counter of memory, at each step in the life of a piece of managed memory."""

import os

from nvshare.probe.bench import Bench
from nvshare.probe.gpu import Gpu
from nvshare.probe.host import read_memory

_EMULATED = "the memory of an emulated GPU is ordinary memory of this process"
_NO_COUNT = "this version of the emulated GPU does not count host memory"


def probe(bench: Bench) -> None:
    """Go through the steps."""
    readings = bench.readings
    readings.note("memory.piece_bytes", bench.piece)
    _read(bench, "before", None)
    began = bench.clock.now()
    with bench.gpu(bare=True) as gpu:
        readings.note("memory.context_create_s", bench.clock.now() - began)
        _read(bench, "context", gpu)
        free, total = gpu.free_and_total()
        readings.note("memory.usable_bytes", total)
        readings.note("memory.idle_free_bytes", free)
        gpu.load()
        _read(bench, "module", gpu)
        _walk(bench, gpu)
        _read(bench, "freed", gpu)
    _read(bench, "after", None)


def _walk(bench: Bench, gpu: Gpu) -> None:
    size = bench.piece
    with gpu.stream() as stream, gpu.managed(size) as address:
        _read(bench, "allocated", gpu)
        gpu.write(address, size, stream)
        gpu.wait(stream)
        _read(bench, "touched", gpu)
        gpu.prefetch(address, size, stream, out=True)
        gpu.wait(stream)
        _read(bench, "out", gpu)
        gpu.prefetch(address, size, stream)
        gpu.wait(stream)
        _read(bench, "back", gpu)


def _read(bench: Bench, step: str, gpu: Gpu | None) -> None:
    """Record all counters."""
    readings, name = bench.readings, f"memory.{step}"
    if gpu is not None:
        readings.note(f"{name}.cuda_free", gpu.free_and_total()[0])
    readings.note(f"{name}.nvml_free", bench.nvml.free_bytes())
    processes = bench.nvml.process_bytes()
    if gpu is not None:
        why = "NVML knows this process by another pid, or does not report its memory"
        readings.note(f"{name}.process", processes.get(os.getpid()), why)
    readings.note(f"{name}.host_used", bench.host_used(), _NO_COUNT)
    if bench.node:
        for count in ("resident", "cgroup"):
            readings.miss(f"{name}.{count}", _EMULATED)
        return
    host = read_memory()
    readings.note(f"{name}.resident", host.resident, "/proc does not tell")
    readings.note(f"{name}.cgroup", host.cgroup, "the cgroup does not tell")
