"""A prefetch onto a GPU that another process has filled: whose memory leaves, and how fast."""

from functools import partial

from nvshare.probe.bench import Bench, fitting_piece
from nvshare.probe.gpu import MIB, Gpu
from nvshare.probe.helper import Helper
from nvshare.probe.readings import Unavailable

_LEAST = 256 * MIB


def probe(bench: Bench) -> None:
    """Have a helper fill the GPU, and prefetch onto it."""
    if bench.readings.values.get("machine.others"):
        raise Unavailable("other programs are on this GPU, and would be pushed out of it")
    # On a full GPU, up to 128 MiB of a batch that the driver has taken may be unused.
    size = max(bench.piece, fitting_piece(bench.nvml.free_bytes() or 0, _LEAST))
    if size < _LEAST:
        raise Unavailable("there is too little memory to see which memory is pushed out")
    bench.readings.note("crowded.piece_bytes", size)
    with bench.gpu() as gpu, gpu.stream() as stream, gpu.managed(size) as address:
        gpu.write(address, size, stream)
        gpu.wait(stream)
        bench.readings.note("crowded.resident_read_s", _read(bench, gpu, stream, address, size))
        with Helper(bench.ordinal) as helper:
            helper.ask("hello")
            before = gpu.free_and_total()[0]
            gpu.prefetch(address, size, stream, out=True)
            gpu.wait(stream)
            free = gpu.free_and_total()[0]
            # Memory that has left may still occupy the GPU, and is not counted as free then.
            kept = 0 if free - before > size // 2 else size
            filled = helper.ask("fill", size=free + kept, first=size)
            bench.readings.note("crowded.free_bytes", filled["free"])
            took = bench.timed(gpu, stream, lambda: gpu.prefetch(address, size, stream))
            bench.note_took("crowded.in", took, size)
            bench.readings.note("crowded.read_s", _read(bench, gpu, stream, address, size))
            found = helper.ask("look")
            bench.readings.note("crowded.helper.wrong_words", found["wrong"])
            bench.readings.note("crowded.helper.read_s", found["seconds"])
            bench.readings.note("crowded.helper.again_s", helper.ask("look")["seconds"])


def _read(bench: Bench, gpu: Gpu, stream: int, address: int, size: int) -> float:
    """Have a kernel read all of it; return the seconds."""
    with gpu.plain(8) as wrong:
        gpu.driver.call("cuMemsetD8Async", wrong, 0, 8, stream)
        gpu.wait(stream)
        launch = partial(gpu.count_wrong, address, size, wrong, stream)
        seconds = gpu.kernel_seconds(stream, launch)
        bench.readings.note("crowded.wrong_words", gpu.read_number(wrong))
        return seconds
