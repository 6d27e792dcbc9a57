"""A full GPU refuses memory, and is as good as new when memory is freed."""

import numpy as np
from checked import begin, failure, ok
from cuda.bindings import driver as cu
from named import Kernels, number

MIB = 2**20
CHUNK = 8 * MIB

device = begin()
kernels = Kernels()
out = ok(cu.cuMemAlloc(8))
total = ok(cu.cuDeviceTotalMem(device))
free, whole = ok(cu.cuMemGetInfo())
print("free is less than all:", 0 < free < whole)
print("more than there is:", failure(cu.cuMemAlloc(total + MIB)))
print("nothing at all:", failure(cu.cuMemAlloc(0)))

# Free memory shrinks by the size of an allocation.
memory = ok(cu.cuMemAlloc(CHUNK))
print("taken:", (free - ok(cu.cuMemGetInfo())[0]) // MIB, "MiB")
ok(cu.cuMemFree(memory))
print("given back:", ok(cu.cuMemGetInfo())[0] == free)

for turn in (1, 2):
    chunks = []
    while True:
        code, memory = cu.cuMemAlloc(CHUNK)
        if code != cu.CUresult.CUDA_SUCCESS:
            break
        chunks.append(memory)
    print(f"full, time {turn}:", code.name, total // 2 < len(chunks) * CHUNK <= total)
    # Work goes on in the memory that there is.
    kernels.launch("fill_u32", chunks[-1], 1, CHUNK // 4)
    ok(cu.cuMemsetD8(out, 0, 8))
    kernels.launch("sum_u32", chunks[-1], out, CHUNK // 4)
    print("sum in the last chunk:", number(out) == CHUNK // 4)
    ok(cu.cuMemFree(chunks.pop(0)))
    chunks.append(ok(cu.cuMemAlloc(CHUNK)))
    back = np.zeros(16, dtype=np.uint32)
    ok(cu.cuMemcpyDtoH(back, chunks[-2], back.nbytes))
    print("contents are safe:", bool((back == 1).all()))
    for memory in chunks:
        ok(cu.cuMemFree(memory))
    print("all is free again:", ok(cu.cuMemGetInfo())[0] == free)
ok(cu.cuMemFree(out))
