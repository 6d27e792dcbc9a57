"""Addresses and memory apart: reserve, create, map, allow, and put together anew."""

import os

import numpy as np
from checked import begin, failure, ok
from cuda.bindings import driver as cu
from named import Kernels, number

device = begin()
kernels = Kernels()
FILE = cu.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

properties = cu.CUmemAllocationProp()
properties.type = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
properties.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
properties.location.id = 0
properties.requestedHandleTypes = FILE
minimum = cu.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
grain = ok(cu.cuMemGetAllocationGranularity(properties, minimum))
print("grain is a power of two:", grain & (grain - 1) == 0)
both = cu.CUmemAccessDesc()
both.location = properties.location
both.flags = cu.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE

start = ok(cu.cuMemAddressReserve(4 * grain, 0, 0, 0))
first, second = (ok(cu.cuMemCreate(grain, properties, 0)) for _ in range(2))
print("half a grain:", failure(cu.cuMemCreate(grain // 2, properties, 0)))
ok(cu.cuMemMap(start, grain, 0, first, 0))
ok(cu.cuMemMap(int(start) + grain, grain, 0, second, 0))
ok(cu.cuMemSetAccess(start, 2 * grain, [both], 1))
access = cu.CUmemAccess_flags(int(ok(cu.cuMemGetAccess(properties.location, start))))
print("access:", access.name)
told = ok(cu.cuMemGetAllocationPropertiesFromHandle(first))
print("memory is on device", told.location.id)

# Copies and kernels go over the seam between the two.
numbers = np.random.default_rng(6).integers(0, 2**32, 2 * grain // 4, dtype=np.uint32)
back = np.zeros_like(numbers)
ok(cu.cuMemcpyHtoD(start, numbers, numbers.nbytes))
ok(cu.cuMemcpyDtoH(back, start, back.nbytes))
print("round trip:", np.array_equal(back, numbers))
out = ok(cu.cuMemAlloc(8))
ok(cu.cuMemsetD8(out, 0, 8))
kernels.launch("sum_u32", start, out, numbers.size)
print("sum:", number(out) == int(numbers.sum(dtype=np.uint64)))

# The same memory at other addresses, the other way round.
ok(cu.cuMemMap(int(start) + 2 * grain, grain, 0, second, 0))
ok(cu.cuMemMap(int(start) + 3 * grain, grain, 0, first, 0))
ok(cu.cuMemSetAccess(int(start) + 2 * grain, 2 * grain, [both], 1))
ok(cu.cuMemcpyDtoH(back, int(start) + 2 * grain, back.nbytes))
half = numbers.size // 2
turned = np.concatenate([numbers[half:], numbers[:half]])
print("the other way round:", np.array_equal(back, turned))

# It lives as long as it is mapped or held; and it can go through a file descriptor.
descriptor = ok(cu.cuMemExportToShareableHandle(first, FILE, 0))
ok(cu.cuMemUnmap(start, 4 * grain))
ok(cu.cuMemRelease(first))
again = ok(cu.cuMemImportFromShareableHandle(int(descriptor), FILE))
os.close(int(descriptor))
ok(cu.cuMemMap(start, grain, 0, again, 0))
ok(cu.cuMemSetAccess(start, grain, [both], 1))
back = np.zeros(half, dtype=np.uint32)
ok(cu.cuMemcpyDtoH(back, start, grain))
print("through a file descriptor:", np.array_equal(back, numbers[:half]))
print("freed while mapped:", failure(cu.cuMemAddressFree(start, 4 * grain)))
ok(cu.cuMemUnmap(start, grain))
ok(cu.cuMemRelease(again))
ok(cu.cuMemRelease(second))
ok(cu.cuMemAddressFree(start, 4 * grain))
