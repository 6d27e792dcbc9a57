"""Several threads on both GPUs at once, each with a stream and results of its own."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from checked import ok
from cuda.bindings import driver as cu
from named import Kernels

COUNT = 50_000
ROUNDS = 20

ok(cu.cuInit(0))
devices = ok(cu.cuDeviceGetCount())
contexts = [ok(cu.cuDevicePrimaryCtxRetain(ok(cu.cuDeviceGet(index)))) for index in range(devices)]


def work(index: int) -> str:
    """Add up a pattern round after round; each round's numbers depend on the one before."""
    ok(cu.cuCtxSetCurrent(contexts[index % devices]))
    kernels = Kernels()
    stream = ok(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING))
    random = np.random.default_rng(index)
    expected = np.zeros(COUNT, dtype=np.float32)
    x, y = ok(cu.cuMemAlloc(expected.nbytes)), ok(cu.cuMemAlloc(expected.nbytes))
    ok(cu.cuMemsetD8Async(y, 0, expected.nbytes, stream))
    wrong = 0
    for _ in range(ROUNDS):
        numbers = random.random(COUNT, dtype=np.float32)
        expected = expected + numbers
        ok(cu.cuMemcpyHtoDAsync(x, numbers, numbers.nbytes, stream))
        kernels.launch("add_f32", x, y, y, COUNT, stream=stream)
        back = np.zeros_like(expected)
        ok(cu.cuMemcpyDtoHAsync(back, y, back.nbytes, stream))
        ok(cu.cuStreamSynchronize(stream))
        wrong += not np.array_equal(back, expected)
        extra = ok(cu.cuMemAlloc(2**16))
        ok(cu.cuMemFree(extra))
    ok(cu.cuMemFree(x))
    ok(cu.cuMemFree(y))
    ok(cu.cuStreamDestroy(stream))
    ok(cu.cuModuleUnload(kernels.module))
    return f"thread {index} on GPU {index % devices}: {wrong} wrong of {ROUNDS}"


with ThreadPoolExecutor(8) as pool:
    for line in pool.map(work, range(8)):
        print(line)
print("the main thread has a context:", int(ok(cu.cuCtxGetCurrent())) != 0)
