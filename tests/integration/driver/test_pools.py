"""Stream-ordered memory and its pools."""

from typing import Any

import pytest

MIB = 1 << 20


def attribute(cu: Any, pool: Any, name: str) -> int:
    which = getattr(cu.CUmemPool_attribute, f"CU_MEMPOOL_ATTR_{name}")
    return int(cu.cuMemPoolGetAttribute(pool, which))


def properties(cu: Any, most: int = 0) -> Any:
    wanted = cu.CUmemPoolProps()
    wanted.allocType = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    wanted.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    wanted.location.id = 0
    wanted.maxSize = most
    return wanted


def threshold(cu: Any, pool: Any, value: int) -> None:
    which = cu.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
    cu.cuMemPoolSetAttribute(pool, which, cu.cuuint64_t(value))


def memory_comes_and_goes(cu: Any) -> None:
    free = cu.free()
    stream = cu.cuStreamCreate(0)
    address = cu.cuMemAllocAsync(10 * MIB, stream)
    assert cu.free() == free - 10 * MIB
    cu.cuMemsetD8Async(address, 5, 10 * MIB, stream)
    cu.cuStreamSynchronize(stream)
    assert cu.read(int(address) + 10 * MIB - 1, 1) == b"\5"
    cu.cuMemFreeAsync(address, stream)
    assert cu.error("cuMemFreeAsync", address, stream) == "INVALID_VALUE"
    cu.cuStreamSynchronize(stream)
    assert cu.free() == free
    assert cu.error("cuMemFree", address) == "INVALID_VALUE"
    assert cu.error("cuMemAllocAsync", 0, stream) == "INVALID_VALUE"
    assert cu.error("cuMemAllocAsync", 400 * MIB, stream) == "OUT_OF_MEMORY"


def free_and_free_async_mix(cu: Any) -> None:
    free = cu.free()
    cu.cuMemFree(cu.cuMemAllocAsync(4 * MIB, 0))
    cu.cuMemFreeAsync(cu.cuMemAlloc(4 * MIB), 0)
    cu.cuCtxSynchronize()
    assert cu.free() == free


def accounts_are_kept(cu: Any) -> None:
    pool = cu.cuDeviceGetDefaultMemPool(cu.device)
    assert int(cu.cuDeviceGetMemPool(cu.device)) == int(pool)
    address = cu.cuMemAllocAsync(3 * MIB, 0)
    assert attribute(cu, pool, "USED_MEM_CURRENT") == 3 * MIB
    assert attribute(cu, pool, "RESERVED_MEM_CURRENT") == 3 * MIB
    cu.cuMemFreeAsync(address, 0)
    cu.cuCtxSynchronize()
    assert attribute(cu, pool, "USED_MEM_CURRENT") == 0
    assert attribute(cu, pool, "RESERVED_MEM_CURRENT") == 0
    assert attribute(cu, pool, "USED_MEM_HIGH") == 3 * MIB
    high = cu.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_HIGH
    assert cu.error("cuMemPoolSetAttribute", pool, high, cu.cuuint64_t(5)) == "INVALID_VALUE"
    cu.cuMemPoolSetAttribute(pool, high, cu.cuuint64_t(0))
    assert attribute(cu, pool, "USED_MEM_HIGH") == 0
    assert attribute(cu, pool, "REUSE_ALLOW_OPPORTUNISTIC") == 1
    assert attribute(cu, pool, "RELEASE_THRESHOLD") == 0


def memory_is_kept_up_to_the_threshold(cu: Any) -> None:
    pool = cu.cuMemPoolCreate(properties(cu))
    threshold(cu, pool, 64 * MIB)
    free = cu.free()
    address = cu.cuMemAllocFromPoolAsync(20 * MIB, pool, 0)
    cu.cuMemFreeAsync(address, 0)
    cu.cuCtxSynchronize()
    assert cu.free() == free - 20 * MIB
    assert cu.error("cuMemcpyHtoD", address, b"1234", 4) == "INVALID_VALUE"
    again = cu.cuMemAllocFromPoolAsync(16 * MIB, pool, 0)
    assert int(again) == int(address)
    assert cu.cuMemGetAddressRange(again)[1] == 16 * MIB
    assert attribute(cu, pool, "RESERVED_MEM_CURRENT") == 20 * MIB
    cu.cuMemFreeAsync(again, 0)
    cu.cuCtxSynchronize()
    cu.cuMemPoolTrimTo(pool, 0)
    assert cu.free() == free


def what_is_over_the_threshold_goes_at_the_next_synchronisation(cu: Any) -> None:
    pool = cu.cuMemPoolCreate(properties(cu))
    free = cu.free()
    stream = cu.cuStreamCreate(1)
    address = cu.cuMemAllocFromPoolAsync(20 * MIB, pool, stream)
    cu.cuMemFreeAsync(address, stream)
    while cu.error("cuStreamQuery", stream) == "NOT_READY":
        pass
    # Freed, and not given back: a query does not synchronise.
    assert attribute(cu, pool, "USED_MEM_CURRENT") == 0
    assert attribute(cu, pool, "RESERVED_MEM_CURRENT") == 20 * MIB
    assert cu.free() == free - 20 * MIB
    event = cu.cuEventCreate(0)
    cu.cuEventRecord(event, stream)
    cu.cuEventSynchronize(event)
    assert attribute(cu, pool, "RESERVED_MEM_CURRENT") == 0
    assert cu.free() == free


def kept_memory_makes_way(cu: Any) -> None:
    pool = cu.cuMemPoolCreate(properties(cu))
    threshold(cu, pool, 1 << 40)
    cu.cuMemFreeAsync(cu.cuMemAllocFromPoolAsync(150 * MIB, pool, 0), 0)
    cu.cuCtxSynchronize()
    cu.cuMemAllocFromPoolAsync(200 * MIB, pool, 0)  # only fits once the 150 MiB are given back


def a_stream_gets_its_own_memory_back_at_once(cu: Any) -> None:
    stream, other = cu.cuStreamCreate(1), cu.cuStreamCreate(1)
    address = cu.cuMemAllocAsync(150 * MIB, stream)
    for value in range(5):
        cu.cuMemsetD8Async(address, value, 150 * MIB, stream)
        cu.cuMemFreeAsync(address, stream)
        address = cu.cuMemAllocAsync(150 * MIB, stream)
    cu.cuMemsetD8Async(address, 77, 150 * MIB, stream)
    cu.cuStreamSynchronize(stream)
    assert cu.read(int(address) + 100 * MIB, 1) == b"\x4d"
    cu.cuMemFreeAsync(address, stream)
    cu.cuMemAllocAsync(200 * MIB, other)  # after the other stream's free, which it waits for


def a_pool_has_a_largest_size(cu: Any) -> None:
    pool = cu.cuMemPoolCreate(properties(cu, most=8 * MIB))
    address = cu.cuMemAllocFromPoolAsync(6 * MIB, pool, 0)
    assert cu.error("cuMemAllocFromPoolAsync", 4 * MIB, pool, 0) == "OUT_OF_MEMORY"
    cu.cuMemFreeAsync(address, 0)
    cu.cuMemAllocFromPoolAsync(4 * MIB, pool, 0)


def pools_can_be_chosen_and_destroyed(cu: Any) -> None:
    free = cu.free()
    pool = cu.cuMemPoolCreate(properties(cu))
    cu.cuDeviceSetMemPool(cu.device, pool)
    address = cu.cuMemAllocAsync(2 * MIB, 0)
    handle = cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE
    assert int(cu.cuPointerGetAttribute(handle, address)) == int(pool)
    default = cu.cuDeviceGetDefaultMemPool(cu.device)
    cu.cuMemPoolDestroy(pool)  # lives on until its memory is freed
    assert int(cu.cuDeviceGetMemPool(cu.device)) == int(default)
    assert cu.error("cuMemPoolTrimTo", pool, 0) == "INVALID_VALUE"
    cu.cuMemFreeAsync(address, 0)
    cu.cuCtxSynchronize()
    assert cu.free() == free
    assert cu.error("cuMemPoolDestroy", default) == "INVALID_VALUE"


def captured_memory_lives_as_long_as_the_graph(cu: Any) -> None:
    free = cu.free()
    stream = cu.cuStreamCreate(1)
    out = cu.cuMemAlloc(2 * MIB)
    mode = cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
    cu.cuStreamBeginCapture(stream, mode)
    address = cu.cuMemAllocAsync(2 * MIB, stream)
    cu.cuMemsetD8Async(address, 3, 2 * MIB, stream)
    cu.cuMemcpyDtoDAsync(out, address, 2 * MIB, stream)
    cu.cuMemFreeAsync(address, stream)
    graph = cu.cuStreamEndCapture(stream)
    executable = cu.cuGraphInstantiate(graph, 0)
    for _ in range(3):
        cu.cuMemsetD8(out, 0, 2 * MIB)
        cu.cuGraphLaunch(executable, stream)
        cu.cuStreamSynchronize(stream)
        assert cu.read(int(out) + MIB, 1) == b"\3"
    cu.cuGraphExecDestroy(executable)
    cu.cuGraphDestroy(graph)
    cu.cuMemFree(out)
    assert cu.free() == free
    pool = cu.cuDeviceGetDefaultMemPool(cu.device)
    assert attribute(cu, pool, "USED_MEM_CURRENT") == 0


def pools_can_be_exported(cu: Any) -> None:
    kinds = cu.CUmemAllocationHandleType
    file, none = kinds.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, kinds.CU_MEM_HANDLE_TYPE_NONE
    wanted = properties(cu)
    wanted.handleTypes = file
    pool = cu.cuMemPoolCreate(wanted)
    assert int(cu.cuMemPoolExportToShareableHandle(pool, file, 0)) > 2
    assert cu.error("cuMemPoolExportToShareableHandle", pool, none, 0) == "INVALID_VALUE"
    other = cu.cuMemPoolCreate(properties(cu))
    assert cu.error("cuMemPoolExportToShareableHandle", other, file, 0) == "INVALID_VALUE"


def what_pools_cannot_do_is_said(cu: Any) -> None:
    wanted = properties(cu)
    wanted.handleTypes = cu.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_FABRIC
    assert cu.error("cuMemPoolCreate", wanted) == "NOT_SUPPORTED"


BODIES = [
    memory_comes_and_goes,
    free_and_free_async_mix,
    accounts_are_kept,
    memory_is_kept_up_to_the_threshold,
    what_is_over_the_threshold_goes_at_the_next_synchronisation,
    kept_memory_makes_way,
    a_stream_gets_its_own_memory_back_at_once,
    a_pool_has_a_largest_size,
    pools_can_be_chosen_and_destroyed,
    captured_memory_lives_as_long_as_the_graph,
    pools_can_be_exported,
]


@pytest.mark.parametrize("model", [True, False], ids=["model", "bare"])
@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_pools(emulated: Any, body: Any, model: bool) -> None:
    emulated(body, model=model)


def test_what_pools_cannot_do_is_said(emulated: Any) -> None:
    assert "other than a file descriptor is not implemented" in emulated(
        what_pools_cannot_do_is_said
    )
