"""A kernel that touches memory on the host: how fast faults bring it in."""

from nvshare.probe.bench import Bench


def probe(bench: Bench) -> None:
    """Touch it."""
    size = bench.piece
    with bench.gpu() as gpu, gpu.stream() as stream, gpu.managed(size) as address:
        gpu.write(address, size, stream)
        gpu.prefetch(address, size, stream, out=True)
        gpu.wait(stream)
        seconds = gpu.kernel_seconds(stream, lambda: gpu.write(address, size, stream))
        bench.readings.note("faults.seconds", seconds)
        bench.readings.note("faults.gb_per_s", size / seconds / 1e9)
