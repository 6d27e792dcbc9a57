"""Brings 11,968 MiB of managed memory to the GPU by prefetch and by faults; prints the seconds.

A user program: knows nothing of emulation. Events give the GPU's own time.
"""

from typing import Any

from cuda.bindings import driver as cu

BYTES = 11968 << 20
TOUCH = b""".version 6.3
.target sm_75
.address_size 64
.visible .entry touch(.param .u64 data) { ret; }
\0"""


def do(answer: tuple[Any, ...]) -> Any:
    error, *values = answer
    if error != cu.CUresult.CUDA_SUCCESS:
        raise RuntimeError(error)
    return values[0] if values else None


def timed(work: Any) -> float:
    began, ended = do(cu.cuEventCreate(0)), do(cu.cuEventCreate(0))
    do(cu.cuEventRecord(began, 0))
    work()
    do(cu.cuEventRecord(ended, 0))
    do(cu.cuEventSynchronize(ended))
    return float(do(cu.cuEventElapsedTime(began, ended))) / 1e3


def main() -> None:
    do(cu.cuInit(0))
    do(cu.cuCtxSetCurrent(do(cu.cuDevicePrimaryCtxRetain(0))))
    memory = do(cu.cuMemAllocManaged(BYTES, cu.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value))
    touch = do(cu.cuModuleGetFunction(do(cu.cuModuleLoadData(TOUCH)), b"touch"))
    host, gpu = cu.CUmemLocation(), cu.CUmemLocation()
    host.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST
    gpu.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE

    def launch() -> None:
        parameters = ((memory,), (None,))
        do(cu.cuLaunchKernel(touch, 1, 1, 1, 1, 1, 1, 0, 0, parameters, 0))

    def prefetch(where: Any) -> None:
        do(cu.cuMemPrefetchAsync(memory, BYTES, where, 0, 0))

    launch()  # first touch: the memory is on the GPU now
    print("out by prefetch", timed(lambda: prefetch(host)))
    print("in by prefetch", timed(lambda: prefetch(gpu)))
    prefetch(host)
    print("in by faults", timed(launch))


if __name__ == "__main__":
    main()
