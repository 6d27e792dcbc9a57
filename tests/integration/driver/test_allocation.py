"""Plain and managed memory, host memory and pointers, as ``cuda.bindings.driver`` sees them."""

import ctypes
from typing import Any

import pytest

MIB = 1 << 20
BLOCK = 2 * MIB
BATCH = 64 * BLOCK


def allocates_counts_and_frees(cu: Any) -> None:
    free, total = cu.cuMemGetInfo()
    assert total == 248 * MIB
    assert free == total - 8 * MIB  # the context's share
    address = cu.cuMemAlloc(10 * MIB)
    assert cu.free() == free - 10 * MIB
    base, size = cu.cuMemGetAddressRange(int(address) + 5)
    assert (int(base), size) == (int(address), 10 * MIB)
    cu.cuMemFree(address)
    assert cu.free() == free
    cu.cuMemFree(0)


def small_allocations_share_a_block(cu: Any) -> None:
    free = cu.free()
    addresses = [cu.cuMemAlloc(1000) for _ in range(100)]
    assert free - cu.free() == BLOCK
    assert all(int(address) % 512 == 0 for address in addresses)
    for address in addresses:
        cu.cuMemFree(address)
    assert cu.free() == free


def refuses_what_is_wrong(cu: Any) -> None:
    assert cu.error("cuMemAlloc", 0) == "INVALID_VALUE"
    assert cu.error("cuMemAlloc", 400 * MIB) == "OUT_OF_MEMORY"
    assert cu.error("cuMemAlloc", 1 << 60) == "OUT_OF_MEMORY"
    address = cu.cuMemAlloc(4096)
    assert cu.error("cuMemFree", int(address) + 512) == "INVALID_VALUE"
    assert cu.error("cuMemFree", 4096) == "INVALID_VALUE"
    cu.cuMemFree(address)
    assert cu.error("cuMemFree", address) == "INVALID_VALUE"
    assert cu.error("cuMemGetAddressRange", address) == "NOT_FOUND"
    cu.cuCtxSetCurrent(cu.CUcontext(0))
    assert cu.error("cuMemAlloc", 1) == "INVALID_CONTEXT"
    assert cu.error("cuMemAdvise", 1, 1, cu.CUmem_advise(1), cu.CUmemLocation()) == (
        "INVALID_CONTEXT"
    )


def pitch_is_a_multiple_of_512(cu: Any) -> None:
    address, pitch = cu.cuMemAllocPitch(1000, 7, 4)
    assert pitch == 1024
    assert cu.cuMemGetAddressRange(address)[1] == 7 * 1024
    assert cu.error("cuMemAllocPitch", 1000, 7, 3) == "INVALID_VALUE"


def a_context_takes_its_memory_along(cu: Any) -> None:
    free = cu.free()
    cu.cuCtxCreate(None, 0, cu.device)
    cu.cuMemAlloc(20 * MIB)
    cu.cuMemAllocManaged(20 * MIB, 1)
    cu.cuMemHostAlloc(1 * MIB, 0)
    cu.cuArrayCreate(array_of(cu, 64, 64))
    cu.cuCtxDestroy(cu.cuCtxGetCurrent())
    cu.cuCtxSetCurrent(cu.context)
    assert cu.free() == free


def array_of(cu: Any, width: int, height: int) -> Any:
    shape = cu.CUDA_ARRAY_DESCRIPTOR()
    shape.Width, shape.Height, shape.NumChannels = width, height, 1
    shape.Format = cu.CUarray_format.CU_AD_FORMAT_FLOAT
    return shape


def managed_memory_is_the_programs_too(cu: Any) -> None:
    free = cu.free()
    address = cu.cuMemAllocManaged(4096, cu.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL)
    text = ctypes.c_char * 5
    text.from_address(int(address)).raw = b"hello"
    assert cu.read(address, 5) == b"hello"
    cu.write(address, b"world")
    assert text.from_address(int(address)).raw == b"world"
    cu.cuMemFree(address)
    # The rest of a batch of chunks stays; without the model, nothing has been on the GPU.
    assert free - cu.free() in (BATCH - BLOCK, 0)
    assert cu.error("cuMemAllocManaged", 4096, 4) == "INVALID_VALUE"
    assert cu.error("cuMemAllocManaged", 0, 1) == "INVALID_VALUE"


def managed_memory_takes_room_where_it_is(cu: Any) -> None:
    free = cu.free()
    address = cu.cuMemAllocManaged(20 * MIB, 1)
    assert cu.free() == free
    cu.cuMemPrefetchAsync(address, 20 * MIB, location(cu, 0), 0, 0)
    cu.cuCtxSynchronize()
    assert cu.free() == free - BATCH  # the driver takes chunks in batches
    cu.cuMemPrefetchAsync(address, 10 * MIB, location(cu, -1), 0, 0)
    assert cu.free() == free - BATCH  # and memory that is moved out keeps its own
    cu.cuMemFree(address)
    assert cu.free() == free - BATCH + 20 * MIB


def location(cu: Any, device: int) -> Any:
    place = cu.CUmemLocation()
    types = cu.CUmemLocationType
    place.type = (
        types.CU_MEM_LOCATION_TYPE_HOST if device < 0 else types.CU_MEM_LOCATION_TYPE_DEVICE
    )
    place.id = max(device, 0)
    return place


def attribute(cu: Any, name: str, address: Any, count: int, size: int = 4) -> Any:
    which = getattr(cu.CUmem_range_attribute, f"CU_MEM_RANGE_ATTRIBUTE_{name}")
    return cu.cuMemRangeGetAttribute(size, which, address, count)


def advice_is_kept(cu: Any) -> None:
    address = cu.cuMemAllocManaged(3 * BLOCK, 1)
    whole = 3 * BLOCK
    advice = cu.CUmem_advise
    assert attribute(cu, "READ_MOSTLY", address, whole) == 0
    assert attribute(cu, "PREFERRED_LOCATION", address, whole) == -2
    assert attribute(cu, "LAST_PREFETCH_LOCATION", address, whole) == -2
    assert list(attribute(cu, "ACCESSED_BY", address, whole, 8)) == [-2, -2]

    cu.cuMemAdvise(address, whole, advice.CU_MEM_ADVISE_SET_READ_MOSTLY, location(cu, 0))
    cu.cuMemAdvise(address, whole, advice.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, location(cu, 1))
    cu.cuMemAdvise(address, whole, advice.CU_MEM_ADVISE_SET_ACCESSED_BY, location(cu, 1))
    cu.cuMemAdvise(address, BLOCK, advice.CU_MEM_ADVISE_SET_ACCESSED_BY, location(cu, 0))
    cu.cuMemAdvise(address, whole, advice.CU_MEM_ADVISE_SET_ACCESSED_BY, location(cu, -1))
    assert attribute(cu, "READ_MOSTLY", address, whole) == 1
    assert attribute(cu, "PREFERRED_LOCATION", address, whole) == 1
    assert attribute(cu, "PREFERRED_LOCATION_TYPE", address, whole) == 1
    assert attribute(cu, "PREFERRED_LOCATION_ID", address, whole) == 1
    assert list(attribute(cu, "ACCESSED_BY", address, whole, 12)) == [1, -1, -2]
    assert list(attribute(cu, "ACCESSED_BY", address, BLOCK, 12)) == [0, 1, -1]

    cu.cuMemAdvise(
        int(address) + BLOCK, BLOCK, advice.CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, location(cu, 0)
    )
    assert attribute(cu, "PREFERRED_LOCATION", address, whole) == -2
    assert attribute(cu, "PREFERRED_LOCATION", address, BLOCK) == 1
    cu.cuMemAdvise(address, BLOCK, advice.CU_MEM_ADVISE_UNSET_READ_MOSTLY, location(cu, 0))
    assert attribute(cu, "READ_MOSTLY", address, whole) == 0
    cu.cuMemAdvise(address, whole, advice.CU_MEM_ADVISE_UNSET_ACCESSED_BY, location(cu, 1))
    assert list(attribute(cu, "ACCESSED_BY", address, whole, 8)) == [-1, -2]


def the_last_prefetch_is_known(cu: Any) -> None:
    address = cu.cuMemAllocManaged(3 * BLOCK, 1)
    cu.cuMemPrefetchAsync(address, 3 * BLOCK, location(cu, 0), 0, 0)
    assert attribute(cu, "LAST_PREFETCH_LOCATION", address, 3 * BLOCK) == 0
    assert attribute(cu, "LAST_PREFETCH_LOCATION_TYPE", address, 3 * BLOCK) == 1
    cu.cuMemPrefetchAsync(address, BLOCK, location(cu, -1), 0, 0)
    assert attribute(cu, "LAST_PREFETCH_LOCATION", address, 3 * BLOCK) == -2
    assert attribute(cu, "LAST_PREFETCH_LOCATION", address, BLOCK) == -1
    assert attribute(cu, "LAST_PREFETCH_LOCATION_TYPE", address, BLOCK) == 2


def prefetch_wants_managed_memory(cu: Any) -> None:
    plain = cu.cuMemAlloc(BLOCK)
    managed = cu.cuMemAllocManaged(BLOCK, 1)
    here = location(cu, 0)
    assert cu.error("cuMemPrefetchAsync", plain, BLOCK, here, 0, 0) == "INVALID_VALUE"
    assert cu.error("cuMemPrefetchAsync", managed, 2 * BLOCK, here, 0, 0) == "INVALID_VALUE"
    assert cu.error("cuMemPrefetchAsync", managed, 0, here, 0, 0) == "INVALID_VALUE"
    assert cu.error("cuMemPrefetchAsync", managed, BLOCK, here, 1, 0) == "INVALID_VALUE"
    assert cu.error("cuMemPrefetchAsync", managed, BLOCK, location(cu, 7), 0, 0) == (
        "INVALID_DEVICE"
    )
    assert cu.error("cuMemAdvise", plain, BLOCK, cu.CUmem_advise(1), here) == "INVALID_VALUE"


def old_versions_take_a_device(cu: Any) -> None:
    address = int(cu.cuMemAllocManaged(BLOCK, 1))
    cuda = cu.libcuda
    pointer, size = ctypes.c_uint64, ctypes.c_size_t
    cuda.cuMemPrefetchAsync.argtypes = [pointer, size, ctypes.c_int, ctypes.c_void_p]
    cuda.cuMemAdvise.argtypes = [pointer, size, ctypes.c_int, ctypes.c_int]
    assert cuda.cuMemPrefetchAsync(address, BLOCK, -1, None) == 0
    assert attribute(cu, "LAST_PREFETCH_LOCATION", address, BLOCK) == -1
    assert cuda.cuMemPrefetchAsync(address, BLOCK, 0, None) == 0
    assert attribute(cu, "LAST_PREFETCH_LOCATION", address, BLOCK) == 0
    assert cuda.cuMemPrefetchAsync(address, BLOCK, 5, None) == 101
    assert cuda.cuMemAdvise(address, BLOCK, 3, -1) == 0
    assert attribute(cu, "PREFERRED_LOCATION", address, BLOCK) == -1


def batches_of_prefetches(cu: Any) -> None:
    first, second = (cu.cuMemAllocManaged(BLOCK, 1) for _ in range(2))
    stream = cu.cuStreamCreate(0)
    places = [location(cu, 0), location(cu, -1)]
    cu.cuMemPrefetchBatchAsync([first, second], [BLOCK, BLOCK], 2, places, [0, 1], 2, 0, stream)
    assert attribute(cu, "LAST_PREFETCH_LOCATION", first, BLOCK) == 0
    assert attribute(cu, "LAST_PREFETCH_LOCATION", second, BLOCK) == -1
    cu.cuMemDiscardBatchAsync([first], [BLOCK], 1, 0, stream)
    assert cu.error("cuMemDiscardBatchAsync", [first], [BLOCK], 1, 0, 0) == "INVALID_VALUE"
    cu.cuStreamSynchronize(stream)


def host_memory(cu: Any) -> None:
    host = cu.cuMemHostAlloc(4096, cu.CU_MEMHOSTALLOC_PORTABLE)
    assert int(cu.cuMemHostGetDevicePointer(host, 0)) == int(host)
    assert cu.cuMemHostGetFlags(host) & cu.CU_MEMHOSTALLOC_PORTABLE
    device = cu.cuMemAlloc(4096)
    ctypes.memset(int(host), 0x5A, 4096)
    cu.cuMemcpyHtoDAsync(device, host, 4096, 0)
    cu.cuCtxSynchronize()
    assert cu.read(device, 4096) == b"\x5a" * 4096
    cu.cuMemFreeHost(host)
    assert cu.error("cuMemFreeHost", host) == "INVALID_VALUE"
    assert cu.error("cuMemHostAlloc", 0, 0) == "INVALID_VALUE"
    assert cu.error("cuMemHostAlloc", 1, 0x100) == "INVALID_VALUE"
    cu.cuMemFreeHost(cu.cuMemAllocHost(100))


def registered_memory(cu: Any) -> None:
    own = ctypes.create_string_buffer(b"mine", 10000)
    at = ctypes.addressof(own)
    assert cu.error("cuMemHostUnregister", at) == "HOST_MEMORY_NOT_REGISTERED"
    cu.cuMemHostRegister(at, 10000, 0)
    assert cu.error("cuMemHostRegister", at, 10000, 0) == "HOST_MEMORY_ALREADY_REGISTERED"
    assert cu.error("cuMemHostRegister", at + 100, 1, 0) == "HOST_MEMORY_ALREADY_REGISTERED"
    assert int(cu.cuMemHostGetDevicePointer(at + 8, 0)) == at + 8
    assert cu.read(at, 4) == b"mine"  # a device pointer as good as any
    cu.cuMemHostUnregister(at)
    assert cu.error("cuMemHostGetDevicePointer", at, 0) == "INVALID_VALUE"
    assert cu.error("cuMemHostRegister", 4096, 4096, 0) == "INVALID_VALUE"  # nothing is there


BODIES = [
    allocates_counts_and_frees,
    small_allocations_share_a_block,
    refuses_what_is_wrong,
    pitch_is_a_multiple_of_512,
    a_context_takes_its_memory_along,
    managed_memory_is_the_programs_too,
    managed_memory_takes_room_where_it_is,
    the_last_prefetch_is_known,
    prefetch_wants_managed_memory,
    old_versions_take_a_device,
    batches_of_prefetches,
    host_memory,
    registered_memory,
]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_on_one_gpu(emulated: Any, body: Any) -> None:
    emulated(body)


def test_advice_is_kept(emulated: Any) -> None:
    emulated(advice_is_kept, gpus="2xtiny")


@pytest.mark.parametrize("body", [host_memory, managed_memory_is_the_programs_too])
def test_without_the_model(emulated: Any, body: Any) -> None:
    emulated(body, model=False)


def only_the_second_gpu_is_there(cu: Any) -> None:
    assert cu.cuDeviceGetCount() == 1
    address = cu.cuMemAllocManaged(BLOCK, 1)
    cu.cuMemPrefetchAsync(address, BLOCK, location(cu, 0), 0, 0)
    assert attribute(cu, "LAST_PREFETCH_LOCATION", address, BLOCK) == 0
    ordinal = cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    assert cu.cuPointerGetAttribute(ordinal, cu.cuMemAlloc(1)) == 0


def test_devices_have_the_programs_numbers(emulated: Any) -> None:
    emulated(only_the_second_gpu_is_there, gpus="2xtiny", visible="1")
