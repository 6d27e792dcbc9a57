"""Joins a cgroup, moves managed memory out of the GPU, says so, and waits for its input to end.

    leaving.py CGROUP_FOLDER MIB

A user program: knows nothing of emulation.
"""

import os
import sys
from pathlib import Path
from typing import Any

from cuda.bindings import driver as cu


def do(answer: tuple[Any, ...]) -> Any:
    error, *values = answer
    if error != cu.CUresult.CUDA_SUCCESS:
        raise RuntimeError(error)
    return values[0] if values else None


def main() -> None:
    (Path(sys.argv[1]) / "cgroup.procs").write_text(str(os.getpid()))
    size = int(sys.argv[2]) << 20
    do(cu.cuInit(0))
    do(cu.cuCtxSetCurrent(do(cu.cuDevicePrimaryCtxRetain(0))))
    memory = do(cu.cuMemAllocManaged(size, cu.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value))
    host, gpu = cu.CUmemLocation(), cu.CUmemLocation()
    host.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST
    gpu.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    do(cu.cuMemPrefetchAsync(memory, size, gpu, 0, 0))
    do(cu.cuMemPrefetchAsync(memory, size, host, 0, 0))
    print("out", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
