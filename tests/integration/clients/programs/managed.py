"""Managed memory: one address for the CPU and the GPUs, with advice and prefetches."""

import ctypes

import numpy as np
from checked import begin, failure, ok
from cuda.bindings import driver as cu

MIB = 2**20
SIZE = 8 * MIB
Advice = cu.CUmem_advise
Attribute = cu.CUmem_range_attribute

device = begin()
stream = ok(cu.cuStreamCreate(0))
attach_global = cu.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value
memory = ok(cu.cuMemAllocManaged(SIZE, attach_global))
view = np.frombuffer((ctypes.c_uint32 * (SIZE // 4)).from_address(int(memory)), dtype=np.uint32)


def place(kind: "cu.CUmemLocationType", number: int = 0) -> "cu.CUmemLocation":
    location = cu.CUmemLocation()
    location.type = kind
    location.id = number
    return location


GPU = place(cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, int(device))
HOST = place(cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST)


def told(attribute: "cu.CUmem_range_attribute", size: int = SIZE) -> int:
    return int(ok(cu.cuMemRangeGetAttribute(4, attribute, memory, size)))


kind = ok(cu.cuPointerGetAttribute(cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED, memory))
print("managed:", bool(kind))
print("starts as zeros:", not view.any())

# The CPU writes, the GPU sets the middle, the CPU reads.
view[:] = np.arange(view.size, dtype=np.uint32)
ok(cu.cuMemsetD32(int(memory) + 2 * MIB, 0xABCD, MIB // 4))
expected = np.arange(view.size, dtype=np.uint32)
expected[2 * MIB // 4 : 3 * MIB // 4] = 0xABCD
print("after a set on the GPU:", np.array_equal(view, expected))

# Prefetches to the GPU and back lose nothing.
ok(cu.cuMemPrefetchAsync(memory, SIZE, GPU, 0, stream))
ok(cu.cuStreamSynchronize(stream))
print("last prefetch went to:", told(Attribute.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION))
print("after a prefetch to the GPU:", np.array_equal(view, expected))
ok(cu.cuMemPrefetchAsync(memory, SIZE, HOST, 0, stream))
ok(cu.cuStreamSynchronize(stream))
print("last prefetch went to:", told(Attribute.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION))
print("after a prefetch to the host:", np.array_equal(view, expected))

# The form before CUDA 13, which the bindings no longer have: libraries still use it.
old_prefetch = ctypes.CDLL("libcuda.so.1").cuMemPrefetchAsync
old_prefetch.argtypes = [ctypes.c_uint64, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
for number in (0, -1):
    old_prefetch(int(memory), SIZE, number, int(stream))
    ok(cu.cuStreamSynchronize(stream))
    where = told(Attribute.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION)
    print(f"old prefetch to {number} went to:", where, np.array_equal(view, expected))

# Advice is remembered per range.
ok(cu.cuMemAdvise(memory, SIZE, Advice.CU_MEM_ADVISE_SET_READ_MOSTLY, GPU))
print("read mostly:", told(Attribute.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY))
ok(cu.cuMemAdvise(memory, SIZE // 2, Advice.CU_MEM_ADVISE_UNSET_READ_MOSTLY, GPU))
print("half of it still:", told(Attribute.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY))
ok(cu.cuMemAdvise(memory, SIZE, Advice.CU_MEM_ADVISE_UNSET_READ_MOSTLY, GPU))
ok(cu.cuMemAdvise(memory, SIZE, Advice.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, GPU))
print("preferred:", told(Attribute.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION))
ok(cu.cuMemAdvise(memory, SIZE, Advice.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, HOST))
print("preferred:", told(Attribute.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION))
ok(cu.cuMemAdvise(memory, SIZE, Advice.CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, HOST))
print("preferred:", told(Attribute.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION))
ok(cu.cuMemAdvise(memory, SIZE, Advice.CU_MEM_ADVISE_SET_ACCESSED_BY, GPU))
devices = ok(
    cu.cuMemRangeGetAttribute(8, Attribute.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, SIZE)
)
print("accessed by:", [int(each) for each in devices])
ok(cu.cuMemAdvise(memory, SIZE, Advice.CU_MEM_ADVISE_UNSET_ACCESSED_BY, GPU))
several = ok(
    cu.cuMemRangeGetAttributes(
        [4, 4],
        [
            Attribute.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
            Attribute.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
        ],
        2,
        memory,
        SIZE,
    )
)
print("both at once:", [int(each) for each in several])

# A range of several allocations' worth, and memory that is not managed.
plain = ok(cu.cuMemAlloc(MIB))
print("beyond the end:", failure(cu.cuMemPrefetchAsync(memory, SIZE + 64 * MIB, GPU, 0, stream)))
print("contents at last:", np.array_equal(view, expected))

# Copies treat it like any memory.
back = np.zeros(MIB // 4, dtype=np.uint32)
ok(cu.cuMemcpyDtoD(plain, int(memory) + MIB, MIB))
ok(cu.cuMemcpyDtoH(back, plain, MIB))
print("copied:", np.array_equal(back, expected[MIB // 4 : 2 * MIB // 4]))
ok(cu.cuMemFree(plain))
ok(cu.cuMemFree(memory))
print("freed twice:", failure(cu.cuMemFree(memory)))
