"""Memory on the host that a kernel touches: it comes by faults, and how fast."""

from nvshare.probe.bench import Bench


def probe(bench: Bench) -> None:
    """Touch it."""
    size = bench.piece
    with bench.gpu() as gpu, gpu.stream() as stream, gpu.managed(size) as address:
        gpu.write(address, size, stream)
        gpu.prefetch(address, size, stream, out=True)
        gpu.wait(stream)
        took = bench.timed(gpu, stream, lambda: gpu.write(address, size, stream))
        bench.readings.note("faults.seconds", took.total)
        bench.readings.note("faults.gb_per_s", size / took.total / 1e9)
