"""Ranks of a guest, one per GPU, which wait for each other by kernels that spin. See guest.py."""

import ctypes
import mmap
from pathlib import Path
from typing import Any

Word = ctypes.c_uint64


class Rank:
    """One rank: a context, a stream, and kernels."""

    def __init__(self, cuda: Any, device: int, image: str) -> None:
        self._cuda = cuda
        context, module, self._stream = Word(), Word(), Word()
        self._meet, self._spin = Word(), Word()
        cuda.cuInit(0)
        cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        self._context = context
        cuda.cuCtxSetCurrent(context)
        cuda.cuStreamCreate(ctypes.byref(self._stream), 1)
        cuda.cuModuleLoadData(ctypes.byref(module), Path(image).read_bytes())
        cuda.cuModuleGetFunction(ctypes.byref(self._meet), module, b"nvshare_meet_u64")
        cuda.cuModuleGetFunction(ctypes.byref(self._spin), module, b"nvshare_spin")

    def launch(self, function: Word, *words: int) -> int:
        """Launch a kernel."""
        values = [Word(word) for word in words]
        parameters = (ctypes.c_void_p * len(words))(*(ctypes.addressof(one) for one in values))
        self._cuda.cuCtxSetCurrent(self._context)
        return int(
            self._cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, self._stream, parameters, None)
        )

    def compute(self, count: int = 1) -> int:
        """Launch so many short kernels."""
        return max([self.launch(self._spin, 1) for _ in range(count)])

    def meet(self, words: int, ranks: int, rank: int, value: int) -> int:
        """Launch a kernel that waits for those of the other ranks."""
        return self.launch(self._meet, words, ranks, rank, value)

    def sync(self) -> int:
        """Wait for all its work."""
        self._cuda.cuCtxSetCurrent(self._context)
        return int(self._cuda.cuStreamSynchronize(self._stream))


class Ranks:
    """The ranks of this process, by number, and the words by which they meet."""

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._ranks: dict[int, Rank] = {}
        self._file: mmap.mmap | None = None
        self._words = 0

    def begin(self, rank: int, image: str, file: str) -> int:
        """Become a rank, on the GPU of the same number. It meets the others in a file."""
        self._ranks[rank] = Rank(self._cuda, rank, image)
        if self._file is None:
            with Path(file).open("r+b") as opened:
                self._file = mmap.mmap(opened.fileno(), mmap.PAGESIZE)
            address, words = ctypes.addressof(ctypes.c_char.from_buffer(self._file)), Word()
            self._cuda.cuMemHostRegister_v2(Word(address), Word(mmap.PAGESIZE), 3)
            self._cuda.cuMemHostGetDevicePointer_v2(ctypes.byref(words), Word(address), 0)
            self._words = words.value
        return self._ranks[rank].compute()

    def compute(self, rank: int, count: int = 1) -> int:
        """Launch so many short kernels on a GPU."""
        return self._ranks[rank].compute(count)

    def meet(self, rank: int, value: int) -> int:
        """Have a rank meet the only other one."""
        return self._ranks[rank].meet(self._words, 2, rank, value)

    def sync(self, rank: int) -> int:
        """Wait for all work of a rank."""
        return self._ranks[rank].sync()
