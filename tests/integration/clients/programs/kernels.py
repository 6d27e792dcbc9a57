"""Kernels whose results are real, in order on streams."""

import numpy as np
from checked import begin, ok
from cuda.bindings import driver as cu
from named import Kernels, number

begin()
kernels = Kernels()
COUNT = 100_003
x, y, z = (ok(cu.cuMemAlloc(COUNT * 8)) for _ in range(3))
out = ok(cu.cuMemAlloc(8))


def read(address: "cu.CUdeviceptr", kind: type) -> np.ndarray:
    back = np.zeros(COUNT, dtype=kind)
    ok(cu.cuMemcpyDtoH(back, address, back.nbytes))
    return back


kernels.launch("fill_f32", x, 1.5, COUNT)
print("fill:", bool((read(x, np.float32) == 1.5).all()))

a = np.random.default_rng(2).random(COUNT, dtype=np.float32)
b = np.random.default_rng(3).random(COUNT, dtype=np.float32)
ok(cu.cuMemcpyHtoD(x, a, a.nbytes))
ok(cu.cuMemcpyHtoD(y, b, b.nbytes))
kernels.launch("add_f32", x, y, z, COUNT)
print("add:", np.array_equal(read(z, np.float32), a + b))

integers = np.random.default_rng(4).integers(0, 2**32, COUNT, dtype=np.uint32)
ok(cu.cuMemcpyHtoD(x, integers, integers.nbytes))
ok(cu.cuMemsetD8(out, 0, 8))
kernels.launch("sum_u32", x, out, COUNT)
print("sum:", number(out), number(out) == int(integers.sum(dtype=np.uint64)))

# Fifty additions on one stream, without a wait in between.
stream = ok(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING))
kernels.launch("fill_f32", x, 1.0, COUNT, stream=stream)
kernels.launch("fill_f32", z, 0.0, COUNT, stream=stream)
for _ in range(50):
    kernels.launch("add_f32", x, z, z, COUNT, stream=stream)
ok(cu.cuStreamSynchronize(stream))
print("fifty adds:", bool((read(z, np.float32) == 50).all()))

# A pattern, its checksum, and a single wrong word found in it.
kernels.launch("pattern_u64", x, COUNT, 42)
ok(cu.cuMemsetD8(out, 0, 8))
kernels.launch("checksum", x, COUNT * 8 - 3, out)
print(f"checksum: {number(out):016x}")
ok(cu.cuMemsetD8(out, 0, 8))
kernels.launch("count_mismatches_u64", x, COUNT, 42, out)
print("mismatches:", number(out))
ok(cu.cuMemsetD8(int(x) + 8 * 77, 0, 8))
kernels.launch("count_mismatches_u64", x, COUNT, 42, out)
print("after damage:", number(out))

# Managed memory works like any other.
managed = ok(cu.cuMemAllocManaged(COUNT * 8, 1))
kernels.launch("pattern_u64", managed, COUNT, 7)
ok(cu.cuMemsetD8(out, 0, 8))
kernels.launch("count_mismatches_u64", managed, COUNT, 7, out)
print("mismatches in managed memory:", number(out))

for memory in (x, y, z, out, managed):
    ok(cu.cuMemFree(memory))
ok(cu.cuModuleUnload(kernels.module))
