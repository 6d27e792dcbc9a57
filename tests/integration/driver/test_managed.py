"""Managed memory as a program sees it: calls that wait, limits that kill, errors that stay.

The rules are tested one by one in tests/unit/lab/emulator/model, in virtual time.
"""

import signal
import time
from typing import Any

import pytest

MIB = 1 << 20
BLOCK = 2 * MIB
LARGE = 4 << 30  # takes a third of a second over the bus of a T4


def place(cu: Any, device: int) -> Any:
    where = cu.CUmemLocation()
    types = cu.CUmemLocationType
    where.type = (
        types.CU_MEM_LOCATION_TYPE_HOST if device < 0 else types.CU_MEM_LOCATION_TYPE_DEVICE
    )
    where.id = max(device, 0)
    return where


def is_done(cu: Any, stream: Any) -> bool:
    error = cu.error("cuStreamQuery", stream)
    assert error in ("CUDA_SUCCESS", "NOT_READY")
    return bool(error == "CUDA_SUCCESS")


def a_prefetch_to_the_cpu_returns_when_all_is_there(cu: Any) -> None:
    stream = cu.cuStreamCreate(1)
    memory = cu.cuMemAllocManaged(LARGE, 1)
    cu.cuMemPrefetchAsync(memory, LARGE, place(cu, 0), 0, stream)
    cu.cuStreamSynchronize(stream)
    cu.cuMemPrefetchAsync(memory, LARGE, place(cu, -1), 0, stream)
    assert is_done(cu, stream)


def one_to_the_gpu_returns_before(cu: Any) -> None:
    stream = cu.cuStreamCreate(1)
    memory = cu.cuMemAllocManaged(LARGE, 1)
    cu.cuMemPrefetchAsync(memory, LARGE, place(cu, -1), 0, stream)
    cu.cuMemPrefetchAsync(memory, LARGE, place(cu, 0), 0, stream)
    assert not is_done(cu, stream)
    cu.cuStreamSynchronize(stream)


def one_in_a_busy_stream_returns_at_once(cu: Any) -> None:
    stream = cu.cuStreamCreate(1)
    memory = cu.cuMemAllocManaged(LARGE, 1)
    cu.cuMemPrefetchAsync(memory, LARGE, place(cu, -1), 0, stream)
    cu.cuMemPrefetchAsync(memory, LARGE, place(cu, 0), 0, stream)
    cu.cuMemPrefetchAsync(memory, LARGE, place(cu, -1), 0, stream)  # the copies in go on
    assert not is_done(cu, stream)
    cu.cuStreamSynchronize(stream)


def one_call_may_go_over_several_allocations(cu: Any) -> None:
    first = cu.cuMemAllocManaged(8 * MIB, 1)
    second = cu.cuMemAllocManaged(8 * MIB, 1)
    low = min(int(first), int(second))
    assert abs(int(first) - int(second)) == 8 * MIB
    cu.cuMemPrefetchAsync(low, 16 * MIB, place(cu, -1), 0, 0)
    last = cu.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION
    assert cu.cuMemRangeGetAttribute(4, last, low, 16 * MIB) == -1


@pytest.mark.parametrize(
    "body",
    [
        a_prefetch_to_the_cpu_returns_when_all_is_there,
        one_to_the_gpu_returns_before,
        one_in_a_busy_stream_returns_at_once,
        one_call_may_go_over_several_allocations,
    ],
    ids=lambda body: body.__name__,
)
def test_prefetches(emulated: Any, body: Any) -> None:
    emulated(body, gpus="t4", speed=1, data="off")


def a_memset_makes_memory_that_was_not_there(cu: Any) -> None:
    """At 7.7 GB/s, as a kernel does; to fill it again takes little."""
    memory, bytes_ = cu.cuMemAllocManaged(64 * MIB, 1), 64 * MIB
    before = time.monotonic()
    cu.cuMemsetD8(memory, 1, bytes_)
    cu.cuCtxSynchronize()
    assert time.monotonic() - before >= bytes_ / 7.7e9


def test_first_touch(emulated: Any) -> None:
    emulated(a_memset_makes_memory_that_was_not_there, gpus="t4", speed=1, data="off")


def move_50_mib_out(cu: Any) -> None:
    memory = cu.cuMemAllocManaged(100 * MIB, 1)
    cu.cuMemPrefetchAsync(memory, 100 * MIB, place(cu, 0), 0, 0)
    cu.cuMemPrefetchAsync(memory, 50 * MIB, place(cu, -1), 0, 0)
    signal.pause()


def keep_within_the_limit(cu: Any) -> None:
    memory = cu.cuMemAllocManaged(100 * MIB, 1)
    for _ in range(5):
        cu.cuMemPrefetchAsync(memory, 100 * MIB, place(cu, 0), 0, 0)
        cu.cuMemPrefetchAsync(memory, 50 * MIB, place(cu, -1), 0, 0)
    cu.cuMemFree(memory)
    memory = cu.cuMemAllocManaged(50 * MIB, 1)
    cu.cuMemPrefetchAsync(memory, 50 * MIB, place(cu, -1), 0, 0)


def test_who_has_more_on_the_host_than_it_may_is_killed(emulated: Any) -> None:
    limit = {"NVSHARE_EMULATOR_HOST_LIMIT": "40Mi"}
    emulated(move_50_mib_out, variables=limit, ends=-signal.SIGKILL)


def test_what_is_within_the_limit_is_not(emulated: Any) -> None:
    emulated(keep_within_the_limit, variables={"NVSHARE_EMULATOR_HOST_LIMIT": "50Mi"})


def fault_where_the_host_has_no_memory(cu: Any) -> None:
    import pynvml

    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    events = pynvml.nvmlEventSetCreate()
    pynvml.nvmlDeviceRegisterEvents(handle, pynvml.nvmlEventTypeXidCriticalError, events)
    memory = cu.cuMemAllocManaged(300 * MIB, 1)  # more than the GPU has
    cu.cuMemsetD8(memory, 1, 100 * MIB)
    cu.cuMemsetD8Async(memory, 1, 300 * MIB, 0)
    assert cu.error("cuCtxSynchronize") == "ILLEGAL_ADDRESS"
    for name, arguments in (
        ("cuMemAlloc", (4,)),
        ("cuMemGetInfo", ()),
        ("cuStreamCreate", (0,)),
        ("cuCtxSynchronize", ()),
        ("cuMemsetD8", (memory, 1, 4)),
    ):
        assert cu.error(name, *arguments) == "ILLEGAL_ADDRESS", name
    assert pynvml.nvmlEventSetWait_v2(events, 1000).eventData == 31


def prefetch_where_the_host_has_no_memory(cu: Any) -> None:
    memory = cu.cuMemAllocManaged(100 * MIB, 1)
    cu.cuMemPrefetchAsync(memory, 100 * MIB, place(cu, 0), 0, 0)
    cu.cuCtxSynchronize()
    error = cu.error("cuMemPrefetchAsync", memory, 100 * MIB, place(cu, -1), 0, 0)
    assert error == "OUT_OF_MEMORY"
    cu.cuCtxSynchronize()  # the context is none the worse for it


def prefetch_onto_a_gpu_full_of_plain_memory(cu: Any) -> None:
    cu.cuMemAlloc(cu.free() // BLOCK * BLOCK)
    memory = cu.cuMemAllocManaged(10 * MIB, 1)
    cu.cuMemPrefetchAsync(memory, 10 * MIB, place(cu, -1), 0, 0)
    error = cu.error("cuMemPrefetchAsync", memory, 10 * MIB, place(cu, 0), 0, 0)
    assert error == "OUT_OF_MEMORY"


@pytest.mark.parametrize(
    "body",
    [fault_where_the_host_has_no_memory, prefetch_where_the_host_has_no_memory],
    ids=lambda body: body.__name__,
)
def test_a_host_without_memory(emulated: Any, body: Any) -> None:
    emulated(body, host_bytes=20 * MIB)


def test_nothing_to_evict(emulated: Any) -> None:
    emulated(prefetch_onto_a_gpu_full_of_plain_memory)


def plain_memory_evicts(cu: Any) -> None:
    memory = cu.cuMemAllocManaged(200 * MIB, 1)
    cu.cuMemPrefetchAsync(memory, 200 * MIB, place(cu, 0), 0, 0)
    cu.cuCtxSynchronize()
    assert cu.free() < 100 * MIB
    cu.cuMemAlloc(100 * MIB)


def test_plain_memory_evicts_managed_memory(emulated: Any) -> None:
    emulated(plain_memory_evicts)


PTX = b""".version 6.3
.target sm_75
.address_size 64
.visible .entry nothing() { ret; }
\0"""


def contexts_grow_with_their_modules(cu: Any) -> None:
    import os

    import pynvml

    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)

    def own_bytes() -> int:
        (own,) = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
        assert own.pid == os.getpid()
        return int(own.usedGpuMemory)

    free, own = cu.free(), own_bytes()
    module = cu.cuModuleLoadData(PTX)
    assert (cu.free(), own_bytes()) == (free - BLOCK, own + BLOCK)
    library = cu.cuLibraryLoadData(PTX, [], [], 0, [], [], 0)
    assert (cu.free(), own_bytes()) == (free - 2 * BLOCK, own + 2 * BLOCK)
    cu.cuModuleUnload(module)
    cu.cuLibraryUnload(library)
    assert (cu.free(), own_bytes()) == (free, own)
    memory = cu.cuMemAllocManaged(20 * MIB, 1)
    cu.cuMemPrefetchAsync(memory, 20 * MIB, place(cu, 0), 0, 0)
    cu.cuCtxSynchronize()
    assert own_bytes() == own  # managed memory belongs to no process
    context = cu.cuCtxCreate(None, 0, cu.device)
    cu.cuModuleLoadData(PTX)
    cu.cuCtxDestroy(context)
    assert own_bytes() == own


def test_contexts_grow_with_their_modules(emulated: Any) -> None:
    emulated(contexts_grow_with_their_modules)
