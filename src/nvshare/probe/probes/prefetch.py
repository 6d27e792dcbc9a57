"""Moving a large piece of managed memory: each way, again, both at once; when the call returns."""

import threading

from nvshare.probe.bench import Bench
from nvshare.probe.gpu import BLOCK, Gpu

_SPIN_S = 0.3
_TOUCHES = 4


def probe(bench: Bench) -> None:
    """Move it."""
    size = bench.piece
    bench.readings.note("prefetch.piece_bytes", size)
    with bench.gpu() as gpu, gpu.stream() as stream, gpu.managed(size) as address:
        first = gpu.kernel_seconds(stream, lambda: gpu.write(address, size, stream))
        bench.readings.note("prefetch.first_touch_gb_per_s", size / first / 1e9)
        again = _resident(gpu, stream, address, size)
        bench.readings.note("prefetch.resident_touch_gb_per_s", size / again / 1e9)
        for turn in ("first", "second"):
            for way in ("out", "in"):
                _move(bench, gpu, stream, address, size, f"{way}.{turn}")
        _check(bench, gpu, stream, address, size)
        _both(bench, gpu, stream, address, size)
        _busy(bench, gpu, stream, address, size)


def _resident(gpu: Gpu, stream: int, address: int, size: int) -> float:
    """Return how long a kernel takes to write resident memory: one of several in a row."""
    with gpu.event() as before, gpu.event() as after:
        gpu.shield(stream)
        gpu.record(before, stream)
        for _ in range(_TOUCHES):
            gpu.write(address, size, stream)
        gpu.record(after, stream)
        gpu.wait(stream)
        return gpu.between(before, after) / _TOUCHES


def _move(bench: Bench, gpu: Gpu, stream: int, address: int, size: int, name: str) -> None:
    out = name.startswith("out")
    took = bench.timed(gpu, stream, lambda: gpu.prefetch(address, size, stream, out=out))
    bench.note_took(f"prefetch.{name}", took, size)


def _check(bench: Bench, gpu: Gpu, stream: int, address: int, size: int) -> None:
    """Whether memory that went out and came back has its contents."""
    with gpu.plain(8) as wrong:
        gpu.driver.call("cuMemsetD8Async", wrong, 0, 8, stream)
        gpu.count_wrong(address, size, wrong, stream)
        gpu.wait(stream)
        bench.readings.note("prefetch.wrong_words", gpu.read_number(wrong))


def _both(bench: Bench, gpu: Gpu, stream: int, address: int, size: int) -> None:
    """Move one half out while the other comes in, each in a stream and a thread of its own."""
    half = size // 2 // BLOCK * BLOCK
    near, far = address, address + half
    alone, together = [], []
    for _ in range(bench.rounds):
        # The near half must be on the GPU now, and the far one on the host.
        gpu.prefetch(near, half, stream)
        gpu.prefetch(far, half, stream, out=True)
        gpu.wait(stream)
        out = _seconds(bench, gpu, [(near, half, True)])
        alone.append(out + _seconds(bench, gpu, [(near, half, False)]))
        together.append(_seconds(bench, gpu, [(near, half, True), (far, half, False)]))
    # The minimum, because other load on the machine only adds time.
    bench.readings.note("prefetch.both.total_s", min(together))
    bench.readings.note("prefetch.both.gb_per_s", 2 * half / min(together) / 1e9)
    bench.readings.note("prefetch.both.gain", min(alone) / min(together))


def _seconds(bench: Bench, gpu: Gpu, moves: "list[tuple[int, int, bool]]") -> float:
    """Return how long all of these moves take when they begin together."""
    begin = threading.Barrier(len(moves) + 1)
    ends: list[float] = []

    def move(address: int, size: int, out: bool) -> None:
        gpu.make_current()
        with gpu.stream() as lane:
            begin.wait()
            gpu.prefetch(address, size, lane, out=out)
            gpu.wait(lane)
            ends.append(bench.clock.now())

    threads = [threading.Thread(target=move, args=one, daemon=True) for one in moves]
    for thread in threads:
        thread.start()
    began = bench.clock.now()
    begin.wait()
    for thread in threads:
        thread.join()
    if len(ends) < len(moves):
        raise RuntimeError("a prefetch in another thread has failed")
    return max(ends) - began


def _busy(bench: Bench, gpu: Gpu, stream: int, address: int, size: int) -> None:
    """Whether the call waits for work that is before it in its stream."""
    for way, out in (("in", False), ("out", True), ("in", False)):
        spin = _SPIN_S * max(1.0, bench.clock.speed)
        gpu.spin(spin, stream)
        began = bench.clock.now()
        gpu.prefetch(address, size, stream, out=out)
        bench.readings.note(f"prefetch.busy.{way}.call_s", bench.clock.now() - began)
        gpu.wait(stream)
        bench.readings.note("prefetch.busy.work_s", spin)
