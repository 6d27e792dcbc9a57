"""A prefetch of untouched memory to the host: whether pages are created for it."""

from nvshare.probe.bench import Bench


def probe(bench: Bench) -> None:
    """Ask for it."""
    size = bench.piece
    with bench.gpu() as gpu, gpu.stream() as stream, gpu.managed(size) as address:
        before = bench.host_used()
        took = bench.timed(gpu, stream, lambda: gpu.prefetch(address, size, stream, out=True))
        bench.readings.note("untouched.seconds", max(took.call, took.total))
        after = bench.host_used()
        if before is None or after is None:
            why = "this version of the emulated GPU does not count host memory"
            bench.readings.miss("untouched.host_bytes", why)
        else:
            bench.readings.note("untouched.host_bytes", after - before)
        bench.readings.note("untouched.piece_bytes", size)
