"""What one block costs: a call for each, so that nothing overlaps and constants come apart.

A block that leaves for the first time needs pages on the host; each time it leaves it is mapped
there; when it comes back it is unmapped. A call on blocks that are where they should be does
nothing but look at them.
"""

import statistics

from nvshare.probe.bench import Bench
from nvshare.probe.gpu import BLOCK, MIB, Gpu

_MOST = 64


def probe(bench: Bench) -> None:
    """Move blocks one by one."""
    count = min(_MOST, bench.piece // BLOCK)
    size = count * BLOCK
    with bench.gpu() as gpu, gpu.stream() as stream, gpu.managed(size) as address:
        gpu.write(address, size, stream)
        gpu.wait(stream)
        for turn in ("first", "second"):
            for way in ("out", "in"):
                _each(bench, gpu, stream, address, count, f"{way}.{turn}")
        _each(bench, gpu, stream, address, count, "stay")
    _many(bench)


def _each(
    bench: Bench, gpu: Gpu, stream: int, address: int, count: int, name: str
) -> None:
    out = name.startswith("out")
    took = [
        bench.timed(
            gpu, stream, lambda at=at: gpu.prefetch(at, BLOCK, stream, out=out)  # type: ignore[misc]
        )
        for at in range(address, address + count * BLOCK, BLOCK)
    ]
    bench.readings.note(f"blocks.{name}.call_us", statistics.median(one.call for one in took) * 1e6)
    total = statistics.median(max(one.call, one.total) for one in took)
    bench.readings.note(f"blocks.{name}.total_us", total * 1e6)


def _many(bench: Bench) -> None:
    """What a call costs for each block that is there already, whatever the call itself costs."""
    size = max(bench.piece, 32 * MIB)
    few = BLOCK * 2
    with bench.gpu() as gpu, gpu.stream() as stream, gpu.managed(size) as address:
        gpu.prefetch(address, size, stream)
        gpu.wait(stream)
        times = {}
        for span in (few, size):
            calls = [
                bench.timed(gpu, stream, lambda span=span: gpu.prefetch(address, span, stream))  # type: ignore[misc]
                for _ in range(bench.rounds * 3)
            ]
            times[span] = statistics.median(max(one.call, one.total) for one in calls)
    each = (times[size] - times[few]) / ((size - few) / BLOCK)
    bench.readings.note("blocks.service_us", max(0.0, each) * 1e6)
