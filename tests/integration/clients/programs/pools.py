"""Allocation in the order of a stream, from the device's own pool and from another."""

import numpy as np
from checked import begin, failure, ok
from cuda.bindings import driver as cu
from named import Kernels, number

MIB = 2**20
Attribute = cu.CUmemPool_attribute

device = begin()
kernels = Kernels()
stream = ok(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING))
out = ok(cu.cuMemAlloc(8))


def used(pool: "cu.CUmemoryPool") -> int:
    return int(ok(cu.cuMemPoolGetAttribute(pool, Attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT)))


# Allocate, use and free without a wait in between.
ok(cu.cuMemsetD8Async(out, 0, 8, stream))
memory = ok(cu.cuMemAllocAsync(4 * MIB, stream))
kernels.launch("fill_u32", memory, 2, MIB, stream=stream)
kernels.launch("sum_u32", memory, out, MIB, stream=stream)
ok(cu.cuMemFreeAsync(memory, stream))
ok(cu.cuStreamSynchronize(stream))
print("sum in memory that is gone:", number(out))

default = ok(cu.cuDeviceGetDefaultMemPool(device))
print("default is current:", int(ok(cu.cuDeviceGetMemPool(device))) == int(default))
print("in use:", used(default))
pieces = [ok(cu.cuMemAllocAsync(MIB, stream)) for _ in range(3)]
ok(cu.cuStreamSynchronize(stream))
print("in use:", used(default) // MIB, "MiB")
for piece in pieces:
    ok(cu.cuMemFreeAsync(piece, stream))
ok(cu.cuStreamSynchronize(stream))
high = ok(cu.cuMemPoolGetAttribute(default, Attribute.CU_MEMPOOL_ATTR_USED_MEM_HIGH))
print("in use at most:", int(high) // MIB, "MiB")
ok(cu.cuMemPoolTrimTo(default, 0))
reserved = ok(cu.cuMemPoolGetAttribute(default, Attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT))
print("reserved after trimming:", int(reserved))

# A pool of the program's own.
properties = cu.CUmemPoolProps()
properties.allocType = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
properties.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
properties.location.id = 0
pool = ok(cu.cuMemPoolCreate(properties))
threshold = Attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
ok(cu.cuMemPoolSetAttribute(pool, threshold, cu.cuuint64_t(64 * MIB)))
print("threshold:", int(ok(cu.cuMemPoolGetAttribute(pool, threshold))) // MIB, "MiB")
memory = ok(cu.cuMemAllocFromPoolAsync(2 * MIB, pool, stream))
pattern = np.random.default_rng(5).integers(0, 256, 2 * MIB, dtype=np.uint8)
back = np.zeros_like(pattern)
ok(cu.cuMemcpyHtoDAsync(memory, pattern, pattern.nbytes, stream))
ok(cu.cuMemcpyDtoHAsync(back, memory, back.nbytes, stream))
ok(cu.cuStreamSynchronize(stream))
print("round trip:", np.array_equal(back, pattern))
print("in use:", used(pool) // MIB, "MiB")
ok(cu.cuMemFreeAsync(memory, stream))
ok(cu.cuStreamSynchronize(stream))
print("in use:", used(pool))
ok(cu.cuDeviceSetMemPool(device, pool))
memory = ok(cu.cuMemAllocAsync(MIB, stream))
ok(cu.cuStreamSynchronize(stream))
print("as the device's current pool:", used(pool) // MIB, "MiB")
# Memory of a pool can be freed like any other.
ok(cu.cuMemFree(memory))
ok(cu.cuDeviceSetMemPool(device, default))
ok(cu.cuMemPoolDestroy(pool))
print("far too much:", failure(cu.cuMemAllocAsync(2**50, stream)))
