"""The cost of one block: a call for each, so that nothing overlaps and constants can be separated.

A block that leaves for the first time needs pages on the host; each time it leaves it is mapped
there; when it comes back it is unmapped. A call on blocks that are already in place only checks
them.
"""

import statistics

from nvshare.probe.bench import Bench
from nvshare.probe.gpu import BLOCK, Gpu, Took

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


def _each(bench: Bench, gpu: Gpu, stream: int, address: int, count: int, name: str) -> None:
    out = name.startswith("out")
    ends = range(address, address + count * BLOCK, BLOCK)
    took = [_call(bench, gpu, stream, at, BLOCK, out) for at in ends]
    call = statistics.median(one.call for one in took)
    bench.readings.note(f"blocks.{name}.call_us", call * 1e6)
    bench.readings.note(f"blocks.{name}.total_us", _middle(took) * 1e6)


def _call(bench: Bench, gpu: Gpu, stream: int, address: int, size: int, out: bool) -> Took:
    return bench.timed(gpu, stream, lambda: gpu.prefetch(address, size, stream, out=out))


def _middle(took: list[Took]) -> float:
    return statistics.median(max(one.call, one.total) for one in took)


def _many(bench: Bench) -> None:
    """The cost for each block that is already in place, without the call's fixed cost."""
    few, many = 2 * BLOCK, bench.piece
    with bench.gpu() as gpu, gpu.stream() as stream, gpu.managed(many) as address:
        gpu.prefetch(address, many, stream)
        gpu.wait(stream)

        def seconds(size: int) -> float:
            rounds = range(bench.rounds * 3)
            return _middle([_call(bench, gpu, stream, address, size, False) for _ in rounds])

        each = (seconds(many) - seconds(few)) / ((many - few) // BLOCK)
    bench.readings.note("blocks.service_us", max(0.0, each) * 1e6)
