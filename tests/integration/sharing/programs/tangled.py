"""Programs whose work on the GPU waits for their own next calls, and programs beside them.

    tangled.py fed MIB SECONDS          a kernel stays on the GPU and is fed by copies
    tangled.py ordinary MIB SECONDS     the same, in streams that follow the default stream's order
    tangled.py function MIB SECONDS     host functions wait for the thread that makes the calls
    tangled.py kernels MIB SECONDS [MS] kernels of so many milliseconds, for so many seconds in all

Each fills its memory with a pattern first and compares it at the end. Prints "begun" when it has
filled it, and a line of JSON when it is done.
"""

import ctypes
import json
import struct
import sys
import threading
import time
from importlib.resources import files
from typing import Any

Word = ctypes.c_uint64
SEED = 7
ROUNDS_PER_SECOND = 50
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Gpu:
    """The first GPU, with memory that is full of a pattern."""

    def __init__(self, mib: int) -> None:
        self._cuda: Any = ctypes.CDLL("libcuda.so.1")
        context, self._module = Word(), Word()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)
        image = (files("nvshare") / "lab" / "emulator" / "kernels.ptx").read_bytes() + b"\0"
        self.call("cuModuleLoadData", ctypes.byref(self._module), image)
        self.inbox, self.outbox = self.alloc(16), self.alloc(16)
        self.call("cuMemsetD8_v2", self.inbox, 0, Word(16))
        self.call("cuMemsetD8_v2", self.outbox, 0, Word(16))
        self._words = (mib << 20) // 8
        self._data = self.alloc(self._words * 8)
        self.launch("nvshare_pattern_u64", None, self._data.value, self._words, SEED)
        self.call("cuCtxSynchronize")

    def call(self, name: str, *arguments: Any) -> None:
        """Call the driver, which must not fail."""
        code = getattr(self._cuda, name)(*arguments)
        if code:
            raise RuntimeError(f"{name}: {code}")

    def alloc(self, size: int) -> Word:
        """Allocate memory."""
        pointer = Word()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), Word(size))
        return pointer

    def stream(self, flags: int) -> Word:
        """Make a stream: 1 is one that waits for no other."""
        stream = Word()
        self.call("cuStreamCreate", ctypes.byref(stream), flags)
        return stream

    def launch(self, name: str, stream: Word | None, *words: int) -> None:
        """Launch one of the named kernels."""
        function, values = Word(), [Word(word) for word in words]
        self.call("cuModuleGetFunction", ctypes.byref(function), self._module, name.encode())
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(one) for one in values))
        self.call("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, stream, pointers, None)

    def mismatches(self) -> int:
        """How many words of its memory have changed."""
        out = self.alloc(8)
        self.call("cuMemsetD8_v2", out, 0, Word(8))
        self.launch(
            "nvshare_count_mismatches_u64", None, self._data.value, self._words, SEED, out.value
        )
        return self.read(out, None)

    def read(self, address: Word, stream: Word | None) -> int:
        """Fetch a word."""
        buffer = ctypes.create_string_buffer(8)
        self.call("cuMemcpyDtoHAsync_v2", buffer, address, Word(8), stream)
        self.call("cuStreamSynchronize", stream)
        return int(struct.unpack("Q", buffer.raw)[0])


def fed(gpu: Gpu, seconds: float, flags: int) -> bool:
    """Feed a kernel that stays, at a steady pace."""
    own, feeding = gpu.stream(flags), gpu.stream(flags)
    rounds = int(seconds * ROUNDS_PER_SECOND)
    gpu.launch("nvshare_serve_u64", own, gpu.inbox.value, gpu.outbox.value, rounds)
    began = time.monotonic()
    for number in range(1, rounds + 1):
        for offset in (8, 0):
            word = struct.pack("Q", number)
            target = Word(gpu.inbox.value + offset)
            gpu.call("cuMemcpyHtoDAsync_v2", target, word, Word(8), feeding)
            gpu.call("cuStreamSynchronize", feeding)
        while gpu.read(gpu.outbox, feeding) < number:
            pass
        time.sleep(max(0.0, began + number / ROUNDS_PER_SECOND - time.monotonic()))
    gpu.call("cuStreamSynchronize", own)
    return gpu.read(Word(gpu.outbox.value + 8), None) == rounds * (rounds + 1) // 2


def functions(gpu: Gpu, seconds: float) -> bool:
    """Have host functions wait for calls that come after them."""
    stream, went_on = gpu.stream(1), threading.Event()
    seen: list[bool] = []
    function = HOST_FUNCTION(lambda _: seen.append(went_on.wait(60)))
    rounds, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        went_on.clear()
        gpu.call("cuLaunchHostFunc", stream, function, None)
        time.sleep(0.02)
        # It is queued after the function, and only that shows the dependency.
        gpu.call("cuMemsetD8Async", gpu.inbox, rounds % 256, Word(8), stream)
        went_on.set()
        gpu.call("cuStreamSynchronize", stream)
        rounds += 1
    return seen == [True] * rounds


def kernels(gpu: Gpu, seconds: float, milliseconds: float) -> bool:
    """Compute all the time."""
    for _ in range(int(seconds * 1000 / milliseconds)):
        gpu.launch("nvshare_spin", None, int(milliseconds * 1000))
        gpu.call("cuCtxSynchronize")
    return True


def main() -> None:
    """Do as the arguments say."""
    what, mib, seconds, *rest = sys.argv[1:]
    gpu = Gpu(int(mib))
    print("begun", flush=True)
    began = time.monotonic()
    if what in ("fed", "ordinary"):
        is_right = fed(gpu, float(seconds), what == "fed")
    elif what == "function":
        is_right = functions(gpu, float(seconds))
    else:
        is_right = kernels(gpu, float(seconds), float(rest[0]) if rest else 10.0)
    found = {"right": is_right, "began": began, "ended": time.monotonic()}
    print(json.dumps({**found, "wrong": gpu.mismatches()}), flush=True)


main()
