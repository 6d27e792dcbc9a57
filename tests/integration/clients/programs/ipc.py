"""Memory that two processes share."""

import ctypes
import subprocess
import sys

import numpy as np
from checked import begin, failure, ok
from cuda.bindings import driver as cu
from named import Kernels, number

COUNT = 2**18
HANDLE_SIZE = 64


def child() -> None:
    """Check the parent's bytes, and write a pattern."""
    begin()
    kernels = Kernels()
    handle = cu.CUipcMemHandle()
    ctypes.memmove(handle.getPtr(), bytes.fromhex(sys.stdin.read()), HANDLE_SIZE)
    memory = ok(cu.cuIpcOpenMemHandle(handle, cu.CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))
    out = ok(cu.cuMemAlloc(8))
    ok(cu.cuMemsetD8(out, 0, 8))
    kernels.launch("sum_u32", memory, out, 2 * COUNT)
    print("child: sum of what the parent left is", number(out))
    kernels.launch("pattern_u64", memory, COUNT, 99)
    ok(cu.cuCtxSynchronize())
    print("child: frees memory that is not its own:", failure(cu.cuMemFree(memory)))
    ok(cu.cuIpcCloseMemHandle(memory))
    print("child: closes twice:", failure(cu.cuIpcCloseMemHandle(memory)))


def parent() -> None:
    """Share memory with a child."""
    begin()
    kernels = Kernels()
    memory, out = ok(cu.cuMemAlloc(COUNT * 8)), ok(cu.cuMemAlloc(8))
    kernels.launch("fill_u32", memory, 4, 2 * COUNT)
    ok(cu.cuCtxSynchronize())
    handle = ok(cu.cuIpcGetMemHandle(memory))
    said = subprocess.run(
        [sys.executable, __file__, "child"],
        input=ctypes.string_at(handle.getPtr(), HANDLE_SIZE).hex(),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=60,
    )
    print(said.stdout, end="")
    ok(cu.cuMemsetD8(out, 0, 8))
    kernels.launch("count_mismatches_u64", memory, COUNT, 99, out)
    print("parent: mismatches in what the child left:", number(out))
    managed = ok(cu.cuMemAllocManaged(2**20, 1))
    print("parent: shares managed memory:", failure(cu.cuIpcGetMemHandle(managed)))
    print("parent: opens its own:", failure(cu.cuIpcOpenMemHandle(handle, 1)))
    back = np.zeros(1, dtype=np.uint64)
    ok(cu.cuMemcpyDtoH(back, memory, 8))
    print(f"parent: first word is {back[0]:016x}")
    ok(cu.cuMemFree(memory))


child() if sys.argv[1:] else parent()
