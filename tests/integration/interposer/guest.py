"""A program that a test controls line by line: a Python expression in, its value out.

Run by path, with the interposer preloaded or not. It knows only the driver, and not nvshare.
"""

import ctypes
import json
import mmap
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from guest_descriptors import Descriptors  # type: ignore[import-not-found]  # beside this file
from guest_ranks import Ranks  # type: ignore[import-not-found]  # beside this file

KERNEL = b""".version 6.3
.target sm_75
.address_size 64
.visible .entry nothing() { ret; }
.visible .entry slow() { .pragma "nvshare cost_us 20000"; ret; }
.visible .entry very_slow() { .pragma "nvshare cost_us 2000000"; ret; }
.visible .entry touch(.param .u64 data) { ret; }
"""

Word = ctypes.c_uint64


class Gpu:
    """The driver, with results as (code, value) where there is a value."""

    def __init__(self) -> None:
        self.cuda: Any = ctypes.CDLL("libcuda.so.1")
        self.jobs: list[threading.Thread] = []
        self.streams: list[Word] = []
        self.contexts: list[Word] = []
        self.buffers: dict[int, mmap.mmap] = {}
        self.launches = 0
        self.codes: list[int] = []
        self.ranks = Ranks(self.cuda)
        self.descriptors = Descriptors()

    def init(self, device: int = 0) -> int:
        """Make a device's primary context current, and load the kernels."""
        code = int(self.cuda.cuInit(0))
        context = Word()
        code = code or self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        if code:
            return code
        self.context = context
        return self.use(context)

    def use(self, context: Word) -> int:
        """Make a context current in this thread."""
        code = self.cuda.cuCtxSetCurrent(context)
        module, self.nothing, self.slow, self.toucher = Word(), Word(), Word(), Word()
        code = code or self.cuda.cuModuleLoadData(ctypes.byref(module), KERNEL)
        self.cuda.cuModuleGetFunction(ctypes.byref(self.nothing), module, b"nothing")
        self.cuda.cuModuleGetFunction(ctypes.byref(self.slow), module, b"slow")
        self.cuda.cuModuleGetFunction(ctypes.byref(self.toucher), module, b"touch")
        return int(code)

    def create(self, device: int = 0) -> int:
        """Create a context."""
        context = Word()
        code = self.cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device)
        self.contexts.append(context)
        return int(code)

    def destroy(self) -> int:
        """Destroy the context that was created last."""
        return int(self.cuda.cuCtxDestroy_v2(self.contexts.pop()))

    def launch(self, count: int = 1, *, slow: bool = False, stream: Word | None = None) -> int:
        """Launch kernels, until one fails."""
        self.cuda.cuCtxSetCurrent(self.context)
        function = self.slow if slow else self.nothing
        for _ in range(count):
            code = self.cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, None, None)
            if code:
                return int(code)
            self.launches += 1
        return 0

    def load_modules(self, count: int) -> int:
        """Load the same code so many times, or until it fails."""
        codes = (self.cuda.cuModuleLoadData(ctypes.byref(Word()), KERNEL) for _ in range(count))
        return next((int(code) for code in codes if code), 0)

    def launch_very_slow(self, stream: Word) -> int:
        """Launch a kernel of two seconds."""
        module, function = Word(), Word()
        self.cuda.cuModuleLoadData(ctypes.byref(module), KERNEL)
        self.cuda.cuModuleGetFunction(ctypes.byref(function), module, b"very_slow")
        return int(
            self.cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, None, None),
        )

    def touch(self, *pointers: int) -> int:
        """Launch a kernel on each of these allocations."""
        self.cuda.cuCtxSetCurrent(self.context)
        codes = []
        for pointer in map(Word, pointers):
            parameters = (ctypes.c_void_p * 1)(ctypes.addressof(pointer))
            codes.append(
                self.cuda.cuLaunchKernel(self.toucher, 1, 1, 1, 1, 1, 1, 0, None, parameters, None)
            )
        return int(max(codes))

    def call_back(self) -> list[Any]:
        """Have functions called in the order of a stream; return their arguments."""
        stream, seen = self.stream(), list[Any]()
        host = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
        back = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
        first = host(seen.append)
        second = back(lambda of, status, data: seen.append([of == stream.value, status, data]))
        seen.append(self.cuda.cuLaunchHostFunc(stream, first, Word(7)))
        seen.append(self.cuda.cuStreamAddCallback(stream, second, Word(8), 0))
        seen.append(self.cuda.cuStreamAddCallback(stream, second, Word(8), 1))
        seen.append(self.cuda.cuLaunchHostFunc(stream, None, Word(9)))
        self.cuda.cuStreamSynchronize(stream)
        return seen

    def capture_function(self) -> list[Any]:
        """Have a function called by a graph, twice."""
        stream, graph, ready, seen = self.stream(), Word(), Word(), list[Any]()
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(seen.append)
        self.cuda.cuStreamBeginCapture_v2(stream, 0)
        self.cuda.cuLaunchHostFunc(stream, function, Word(7))
        self.cuda.cuStreamEndCapture(stream, ctypes.byref(graph))
        self.cuda.cuGraphInstantiateWithFlags(ctypes.byref(ready), graph, Word(0))
        for _ in range(2):
            self.cuda.cuGraphLaunch(ready, stream)
            self.cuda.cuStreamSynchronize(stream)
        return seen

    def stream(self, flags: int = 1) -> Word:
        """Make a stream; non-blocking unless told otherwise."""
        self.streams.append(Word())
        self.cuda.cuCtxSetCurrent(self.context)
        self.cuda.cuStreamCreate(ctypes.byref(self.streams[-1]), flags)
        return self.streams[-1]

    def capture(self, launches: int) -> list[int]:
        """Capture launches into a graph and launch that."""
        stream, graph, ready = self.stream(), Word(), Word()
        codes = [self.cuda.cuStreamBeginCapture_v2(stream, 0)]
        codes += [self.launch(launches, stream=stream)]
        codes += [self.cuda.cuStreamEndCapture(stream, ctypes.byref(graph))]
        codes += [self.cuda.cuGraphInstantiateWithFlags(ctypes.byref(ready), graph, Word(0))]
        self.graph, self.graph_stream = ready, stream
        return codes

    def launch_graph(self) -> int:
        """Launch the captured graph."""
        return int(self.cuda.cuGraphLaunch(self.graph, self.graph_stream))

    def sync(self) -> int:
        """Wait for all work."""
        return int(self.cuda.cuCtxSynchronize())

    def alloc(self, size: int) -> tuple[int, int]:
        """Allocate."""
        pointer = Word()
        code = self.cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(size))
        self.last = pointer
        return code, pointer.value

    def alloc_managed(self, size: int) -> tuple[int, int]:
        """Allocate memory that the driver may move."""
        pointer = Word()
        code = self.cuda.cuMemAllocManaged(ctypes.byref(pointer), ctypes.c_size_t(size), 1)
        return code, pointer.value

    def copy(self) -> int:
        """Copy a byte to the GPU, and wait until it is there."""
        self.cuda.cuCtxSetCurrent(self.context)
        _, pointer = self.alloc(1)
        return int(self.cuda.cuMemcpyHtoD_v2(Word(pointer), b"a", ctypes.c_size_t(1)))

    def word(self, value: int) -> Word:
        """A number of 64 bits, for addresses and sizes."""
        return Word(value)

    def copy_rows(self, target: int, source: int, size: int) -> int:
        """Copy a row of memory on the GPU, by a description of rows."""
        description = (Word * 16)()
        description[2], description[4] = 2, source  # srcMemoryType, srcDevice
        description[6], description[9] = size, 2  # srcPitch, dstMemoryType
        description[11], description[13] = target, size
        description[14], description[15] = size, 1
        return int(self.cuda.cuMemcpy2D_v2(description))

    def reserve(self, size: int) -> tuple[int, int]:
        """Reserve addresses, without memory."""
        pointer = Word()
        code = self.cuda.cuMemAddressReserve(
            ctypes.byref(pointer), Word(size), Word(0), Word(0), Word(0)
        )
        return int(code), pointer.value

    def upload(self, pointer: int, size: int) -> int:
        """Copy host memory to the GPU, and wait until it is there."""
        self.cuda.cuCtxSetCurrent(self.context)
        return int(self.cuda.cuMemcpyHtoD_v2(Word(pointer), self.host(size), Word(size)))

    def download(self, pointer: int, size: int) -> int:
        """Copy from the GPU to host memory, and wait."""
        self.cuda.cuCtxSetCurrent(self.context)
        return int(self.cuda.cuMemcpyDtoH_v2(self.host(size), Word(pointer), Word(size)))

    def host(self, size: int) -> Word:
        """Memory that is unknown to the driver, and takes no room until it is used."""
        if size not in self.buffers:
            self.buffers[size] = mmap.mmap(-1, size)
        return Word(ctypes.addressof(ctypes.c_char.from_buffer(self.buffers[size])))

    def alloc_pitch(self, width: int, height: int) -> tuple[int, int, int]:
        """Allocate rows."""
        pointer, pitch = Word(), ctypes.c_size_t()
        code = self.cuda.cuMemAllocPitch_v2(
            ctypes.byref(pointer),
            ctypes.byref(pitch),
            ctypes.c_size_t(width),
            ctypes.c_size_t(height),
            4,
        )
        return code, pointer.value, pitch.value

    def fetch(self, size: int = 4) -> int:
        """Copy from the last allocation to the host, which waits for all work."""
        return int(
            self.cuda.cuMemcpyDtoH_v2(ctypes.create_string_buffer(size), self.last, Word(size))
        )

    def free(self, pointer: int) -> int:
        """Free."""
        return int(self.cuda.cuMemFree_v2(Word(pointer)))

    def make_pool(self, device: int = 0, most: int = 0) -> int:
        """Make a memory pool that gives nothing back by itself."""
        pool, properties = Word(), (ctypes.c_int * 22)(1, 0, 1, device)
        Word.from_buffer(properties, 24).value = most
        assert self.cuda.cuMemPoolCreate(ctypes.byref(pool), properties) == 0
        return self.hoard(pool.value)

    def make_exportable_pool(self) -> int:
        """Make a memory pool that can be exported to other processes."""
        pool, properties = Word(), (ctypes.c_int * 22)(1, 1, 1, 0)
        assert self.cuda.cuMemPoolCreate(ctypes.byref(pool), properties) == 0
        return pool.value

    def export_pool(self, pool: int) -> int:
        """Make a descriptor of it."""
        file = ctypes.c_int()
        return int(
            self.cuda.cuMemPoolExportToShareableHandle(ctypes.byref(file), Word(pool), 1, Word(0))
        )

    def array(self, size: int) -> int:
        """Make an array of bytes."""
        array, shape = Word(), (Word * 3)(1024, size // 1024, 1 | 1 << 32)
        return int(self.cuda.cuArrayCreate_v2(ctypes.byref(array), shape))

    def make_handle(self, size: int) -> int:
        """Make physical memory that can be exported."""
        handle, properties = Word(), (ctypes.c_int * 8)(1, 1, 1, 0)
        assert self.cuda.cuMemCreate(ctypes.byref(handle), Word(size), properties, Word(0)) == 0
        return handle.value

    def export_handle(self, handle: int) -> int:
        """Make a descriptor of it."""
        file = ctypes.c_int()
        return int(
            self.cuda.cuMemExportToShareableHandle(ctypes.byref(file), Word(handle), 1, Word(0))
        )

    def capture_memory(self, size: int) -> list[int]:
        """Capture an allocation and its free into a graph, and launch that."""
        stream, graph, ready, pointer = self.stream(), Word(), Word(), Word()
        codes = [self.cuda.cuStreamBeginCapture_v2(stream, 0)]
        codes += [self.cuda.cuMemAllocAsync(ctypes.byref(pointer), Word(size), stream)]
        codes += [self.cuda.cuMemsetD8Async(pointer, 1, Word(size), stream)]
        codes += [self.cuda.cuMemFreeAsync(pointer, stream)]
        codes += [self.cuda.cuStreamEndCapture(stream, ctypes.byref(graph))]
        codes += [self.cuda.cuGraphInstantiateWithFlags(ctypes.byref(ready), graph, Word(0))]
        codes += [self.cuda.cuGraphLaunch(ready, stream), self.sync()]
        return codes

    def hoard(self, pool: int) -> int:
        """Let a pool keep all freed memory. 0: the default pool."""
        handle, all_of_it = Word(pool), Word(2**64 - 1)
        if not pool:
            self.cuda.cuDeviceGetDefaultMemPool(ctypes.byref(handle), 0)
        assert self.cuda.cuMemPoolSetAttribute(handle, 4, ctypes.byref(all_of_it)) == 0
        return handle.value

    def alloc_async(self, size: int, pool: int = 0, stream: Word | None = None) -> tuple[int, int]:
        """Allocate from a pool, or from the device's current one."""
        pointer, bytes_ = Word(), Word(size)
        if pool:
            code = self.cuda.cuMemAllocFromPoolAsync(
                ctypes.byref(pointer), bytes_, Word(pool), stream
            )
        else:
            code = self.cuda.cuMemAllocAsync(ctypes.byref(pointer), bytes_, stream)
        return code, pointer.value

    def free_async(self, pointer: int) -> int:
        """Free to the pool, and wait until that is done."""
        return int(self.cuda.cuMemFreeAsync(Word(pointer), None) or self.sync())

    def free_in(self, pointer: int, stream: Word | None = None) -> int:
        """Free to the pool, in the order of a stream."""
        return int(self.cuda.cuMemFreeAsync(Word(pointer), stream))

    def pool_figures(self, pool: int) -> list[int]:
        """Reserved bytes and their maximum; used bytes and their maximum."""
        values = [Word() for _ in range(4)]
        for number, value in enumerate(values, 5):
            assert self.cuda.cuMemPoolGetAttribute(Word(pool), number, ctypes.byref(value)) == 0
        return [value.value for value in values]

    def reset_high_marks(self, pool: int) -> int:
        """Reset both maxima."""
        reserved, used = (
            self.cuda.cuMemPoolSetAttribute(Word(pool), number, ctypes.byref(Word(0)))
            for number in (6, 8)
        )
        return int(reserved or used)

    def range(self, pointer: int) -> tuple[int, int, int]:
        """The allocation that an address lies in."""
        begin, size = Word(), ctypes.c_size_t()
        code = self.cuda.cuMemGetAddressRange_v2(
            ctypes.byref(begin), ctypes.byref(size), Word(pointer)
        )
        return code, begin.value, size.value

    def trim(self, pool: int, keep: int = 0) -> int:
        """Let a pool give back the memory that it keeps beyond so many bytes."""
        return int(self.cuda.cuMemPoolTrimTo(Word(pool), Word(keep)))

    def info(self) -> tuple[int, int]:
        """Free and total bytes."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    def total(self, device: int = 0) -> int:
        """Size of a device."""
        size = ctypes.c_size_t()
        self.cuda.cuDeviceTotalMem_v2(ctypes.byref(size), device)
        return size.value

    def attribute(self, number: int, pointer: int) -> tuple[int, int]:
        """An attribute of a pointer."""
        value = Word()
        code = self.cuda.cuPointerGetAttribute(ctypes.byref(value), number, Word(pointer))
        return code, value.value

    def place(self, pointer: int) -> int:
        """The last move of an allocation's first byte: to a device, or -1, the host."""
        value = ctypes.c_int()
        self.cuda.cuMemRangeGetAttribute(ctypes.byref(value), 4, 4, Word(pointer), Word(1))
        return value.value

    def nvml(self) -> tuple[int, int]:
        """Used and total bytes, as NVML has it."""
        library: Any = ctypes.CDLL("libnvidia-ml.so.1")
        library.nvmlInit_v2()
        device, memory = Word(), (Word * 3)()
        library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))
        library.nvmlDeviceGetMemoryInfo(device, memory)
        return memory[2], memory[0]

    def start(self, text: str) -> int:
        """Evaluate something in a thread of its own."""
        thread = threading.Thread(target=eval, args=(text, {"gpu": self, "time": time}))
        thread.start()
        self.jobs.append(thread)
        return len(self.jobs) - 1

    def done(self, job: int, seconds: float = 0) -> bool:
        """Whether a thread has ended."""
        self.jobs[job].join(seconds)
        return not self.jobs[job].is_alive()

    def any_done(self, jobs: list[int], seconds: float) -> bool:
        """Wait until one of these threads has ended; return whether one has."""
        end = time.monotonic() + seconds
        while not any(self.done(job) for job in jobs) and time.monotonic() < end:
            time.sleep(0.001)
        return any(self.done(job) for job in jobs)

    def count_descriptors(self, kind: str) -> int:
        """How many descriptors of a kind this process has open."""
        entries = list(Path("/proc/self/fd").iterdir())
        return sum(kind in str(entry.readlink()) for entry in entries if entry.is_symlink())

    def sleep(self, seconds: float) -> None:
        """Do nothing."""
        time.sleep(seconds)

    def fork(self, text: str) -> str:
        """Evaluate an expression in a forked child, and return its value."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writing, json.dumps(eval(text, {"gpu": self, "os": os})).encode())  # noqa: S307
            os._exit(0)
        os.close(writing)
        answer = os.read(reading, 4096).decode()
        os.waitpid(child, 0)
        return answer


def serve() -> None:
    """Answer until there are no more lines."""
    names = {"gpu": Gpu(), "os": os, "time": time}
    for line in sys.stdin:
        print(json.dumps(eval(line, names)), flush=True)  # noqa: S307


if __name__ == "__main__":
    serve()
