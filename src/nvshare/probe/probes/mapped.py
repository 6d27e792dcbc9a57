"""Explicit memory, which nvshare itself creates, maps and copies (docs/explicit.md).

To leave, memory is copied, unmapped and released chunk by chunk; to come back, it is created,
mapped at its old address, and copied. The pages of the host are locked once, as in nvshare.
"""

import contextlib
import ctypes
import threading
from collections.abc import Callable, Iterator

from nvshare.probe.bench import Bench
from nvshare.probe.driver import CudaError, access_of, physical_memory_of
from nvshare.probe.gpu import BLOCK, MIB, Gpu
from nvshare.probe.readings import Unavailable

# The interposer's first chunk size (moves/lane.h); less where there is little memory.
CHUNK = 32 * MIB


def probe(bench: Bench) -> None:
    """Move a piece each way, and then one half out while the other half comes in."""
    readings = bench.readings
    if not readings.values.get("machine.virtual_memory_management"):
        raise Unavailable("the GPU cannot map memory")
    chunk = min(CHUNK, bench.piece // 2 // BLOCK * BLOCK)
    size = bench.piece // (2 * chunk) * 2 * chunk
    readings.note("mapped.piece_bytes", size)
    with bench.gpu() as gpu, gpu.stream() as stream, _locked(bench, gpu, size) as host:
        with _Piece(gpu, host, size, chunk) as piece:
            piece.create()
            gpu.write(piece.address, size, stream)
            gpu.wait(stream)
            for turn in ("first", "second"):
                for way, move in (("out", piece.leave), ("in", piece.come)):
                    began = bench.clock.now()
                    move()
                    seconds = bench.clock.now() - began
                    readings.note(f"mapped.{way}.{turn}.gb_per_s", size / seconds / 1e9)
            readings.note("mapped.wrong_words", _wrong(gpu, piece, stream))
        both = [_both(bench, gpu, host, size // 2, chunk) for _ in range(bench.rounds)]
        readings.note("mapped.both.gb_per_s", size / min(both) / 1e9)


class _Piece:
    """A range of addresses, with chunks of memory mapped or not, and its place on the host."""

    def __init__(self, gpu: Gpu, host: int, size: int, chunk: int) -> None:
        self._gpu, self._host, self._chunk, self.size = gpu, host, chunk, size
        self._handles: dict[int, int] = {}
        self._kind, self._access = physical_memory_of(gpu.device), access_of(gpu.device)
        address = ctypes.c_uint64()
        gpu.driver.call("cuMemAddressReserve", ctypes.byref(address), size, 0, 0, 0)
        self.address = address.value

    def __enter__(self) -> "_Piece":
        return self

    def __exit__(self, *_: object) -> None:
        for at in list(self._handles):
            self._drop(at)
        self._gpu.driver.call("cuMemAddressFree", self.address, self.size)

    def create(self) -> None:
        """Create memory with arbitrary contents."""
        for at in range(0, self.size, self._chunk):
            self._make(at)

    def leave(self) -> None:
        """Move out: release each chunk when its copy is done, while later ones are copied."""
        call = self._gpu.driver.call
        with self._gpu.stream() as stream, contextlib.ExitStack() as stack:
            waiting = []
            for at in range(0, self.size, self._chunk):
                done = stack.enter_context(self._gpu.event())
                call(
                    "cuMemcpyDtoHAsync_v2", self._host + at, self.address + at, self._chunk, stream
                )
                self._gpu.record(done, stream)
                waiting.append((at, done))
            for at, done in waiting:
                call("cuEventSynchronize", done)
                self._drop(at)

    def come(self) -> None:
        """Move in: create memory for the next chunk while the previous one is copied."""
        with self._gpu.stream() as stream:
            for at in range(0, self.size, self._chunk):
                self._make(at)
                self._gpu.driver.call(
                    "cuMemcpyHtoDAsync_v2", self.address + at, self._host + at, self._chunk, stream
                )
            self._gpu.wait(stream)

    def _make(self, at: int) -> None:
        call, handle = self._gpu.driver.call, ctypes.c_uint64()
        call("cuMemCreate", ctypes.byref(handle), self._chunk, ctypes.byref(self._kind), 0)
        try:
            call("cuMemMap", self.address + at, self._chunk, 0, handle, 0)
        except CudaError:
            call("cuMemRelease", handle)
            raise
        self._handles[at] = handle.value
        call("cuMemSetAccess", self.address + at, self._chunk, ctypes.byref(self._access), 1)

    def _drop(self, at: int) -> None:
        self._gpu.driver.call("cuMemUnmap", self.address + at, self._chunk)
        self._gpu.driver.call("cuMemRelease", self._handles.pop(at))


@contextlib.contextmanager
def _locked(bench: Bench, gpu: Gpu, size: int) -> Iterator[int]:
    began = bench.clock.now()
    with gpu.pinned(size) as host:
        bench.readings.note("mapped.lock_gb_per_s", size / (bench.clock.now() - began) / 1e9)
        yield host


def _wrong(gpu: Gpu, piece: _Piece, stream: int) -> int:
    """Return how many words differ from those written."""
    with gpu.plain(8) as wrong:
        gpu.driver.call("cuMemsetD8Async", wrong, 0, 8, stream)
        gpu.count_wrong(piece.address, piece.size, wrong, stream)
        gpu.wait(stream)
        return gpu.read_number(wrong)


def _both(bench: Bench, gpu: Gpu, host: int, half: int, chunk: int) -> float:
    """Return how long it takes to move one out and another in at the same time."""
    with (
        _Piece(gpu, host, half, chunk) as leaving,
        _Piece(gpu, host + half, half, chunk) as coming,
    ):
        leaving.create()
        begin = threading.Barrier(3)
        ends: list[float] = []

        def do(move: Callable[[], None]) -> None:
            gpu.make_current()
            begin.wait()
            move()
            ends.append(bench.clock.now())

        moves = (leaving.leave, coming.come)
        threads = [threading.Thread(target=do, args=(move,), daemon=True) for move in moves]
        for thread in threads:
            thread.start()
        begin.wait()
        began = bench.clock.now()
        for thread in threads:
            thread.join()
        if len(ends) < len(moves):
            raise RuntimeError("a move in another thread has failed")
        return max(ends) - began
