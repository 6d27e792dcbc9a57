"""Memory with handles as programs see it: which GPUs may reach it, and its properties."""

import os
from typing import Any

import pytest

from tests.integration.driver.physical import GRAIN, Launcher, Window, access, properties

DEAD = "ILLEGAL_ADDRESS"


def on_the_other_gpu(cu: Any) -> Any:
    """Its context, with access to the first one's memory of the older kind."""
    context = cu.cuDevicePrimaryCtxRetain(cu.cuDeviceGet(1))
    cu.cuCtxSetCurrent(context)
    cu.cuCtxEnablePeerAccess(cu.context, 0)
    return context


def a_kernel_of_a_peer(cu: Any) -> None:
    window, plain = Window(cu), int(cu.cuMemAlloc(GRAIN))
    on_the_other_gpu(cu)
    launcher = Launcher(cu)
    launcher.fill(0, plain, 1, 100)
    cu.cuCtxSynchronize()
    window.allow(1)
    launcher.fill(0, window.address, 7, 100)
    cu.cuCtxSynchronize()
    window.allow(1, "NONE")
    launcher.fill(0, window.address, 7, 100)
    assert cu.error("cuCtxSynchronize") == DEAD
    # The first one's context is not affected, and has kept its own access.
    cu.cuCtxSetCurrent(cu.context)
    assert cu.read(window.address, 400) == b"\x07\0\0\0" * 100


def a_copy_of_a_peer(cu: Any) -> None:
    window = Window(cu)
    on_the_other_gpu(cu)
    plain = int(cu.cuMemAlloc(GRAIN))
    assert cu.error("cuMemcpyDtoD", plain, window.address, GRAIN) == "CUDA_SUCCESS"
    assert cu.error("cuCtxSynchronize") == DEAD


def a_copy_between_two(cu: Any) -> None:
    """Each GPU needs to reach its own side only."""
    first = Window(cu)
    cu.cuMemsetD8(first.address, 3, GRAIN)
    cu.cuCtxSynchronize()
    other = on_the_other_gpu(cu)
    second = Window(cu, device=1)
    cu.cuMemcpyPeer(second.address, other, first.address, cu.context, GRAIN)
    cu.cuCtxSynchronize()
    assert cu.read(second.address, GRAIN) == b"\3" * GRAIN


def access_goes_with_the_mapping(cu: Any) -> None:
    """Access is set anew after every mapping, for each GPU; reading is not writing."""
    window = Window(cu, mapped=False)
    window.come(allowed=False)
    location = access(cu).location
    assert cu.cuMemGetAccess(location, window.address) == 0
    window.allow(0, "READ")
    assert cu.cuMemGetAccess(location, window.address) == 1
    assert cu.read(window.address, 8) == bytes(8)
    window.allow(0)
    assert cu.cuMemGetAccess(location, window.address) == 3
    cu.cuMemUnmap(window.address, GRAIN)
    cu.cuMemMap(window.address, GRAIN, 0, window.handle, 0)
    assert cu.cuMemGetAccess(location, window.address) == 0
    window.allow(0, "READ")
    cu.cuMemsetD8(window.address, 1, GRAIN)
    assert cu.error("cuCtxSynchronize") == DEAD


def nobody_has_access_at_first(cu: Any) -> None:
    window = Window(cu, mapped=False)
    window.come(allowed=False)
    assert cu.error("cuMemcpyDtoH", bytearray(8), window.address, 8) == DEAD


def attribute(cu: Any, name: str, address: int) -> Any:
    which = getattr(cu.CUpointer_attribute, f"CU_POINTER_ATTRIBUTE_{name}")
    return cu.cuPointerGetAttribute(which, address)


def what_is_told_of_an_address(cu: Any) -> None:
    window = Window(cu, 4 * GRAIN, mapped=False)
    pieces = [cu.cuMemCreate(GRAIN, properties(cu), 0) for _ in range(2)]
    for number, piece in enumerate(pieces):
        cu.cuMemMap(window.address + number * GRAIN, GRAIN, 0, piece, 0)
    inside = window.address + GRAIN + 5
    base, size = cu.cuMemGetAddressRange(inside)
    assert (int(base), size) == (window.address + GRAIN, GRAIN)
    assert int(attribute(cu, "RANGE_START_ADDR", inside)) == window.address
    assert int(attribute(cu, "RANGE_SIZE", inside)) == 4 * GRAIN
    assert not attribute(cu, "IS_LEGACY_CUDA_IPC_CAPABLE", inside)
    assert attribute(cu, "IS_LEGACY_CUDA_IPC_CAPABLE", int(cu.cuMemAlloc(GRAIN)))
    assert cu.error("cuIpcGetMemHandle", window.address) == "INVALID_VALUE"
    assert int(cu.cuMemRetainAllocationHandle(inside)) == int(pieces[1])
    # Whole mappings only, several at once if they lie side by side.
    assert cu.error("cuMemUnmap", window.address, 3 * GRAIN) == "INVALID_VALUE"
    assert cu.error("cuMemAddressFree", window.address, 4 * GRAIN) == "INVALID_VALUE"
    cu.cuMemUnmap(window.address, 2 * GRAIN)
    assert cu.error("cuMemGetAddressRange", inside) == "NOT_FOUND"


def nvml_counts_it(cu: Any) -> None:
    import pynvml

    pynvml.nvmlInit()
    device = pynvml.nvmlDeviceGetHandleByIndex(0)

    def used() -> int:
        (process,) = pynvml.nvmlDeviceGetComputeRunningProcesses(device)
        assert process.pid == os.getpid()
        return int(process.usedGpuMemory)

    before = used()
    handle = cu.cuMemCreate(8 * GRAIN, properties(cu), 0)
    assert used() == before + 8 * GRAIN
    cu.cuMemRelease(handle)
    assert used() == before


def without_handles(cu: Any) -> None:
    which = cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
    assert cu.cuDeviceGetAttribute(which, cu.device) == 0
    wanted = properties(cu)
    flag = cu.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    unsupported = "NOT_SUPPORTED"
    assert cu.error("cuMemGetAllocationGranularity", wanted, flag) == unsupported
    assert cu.error("cuMemCreate", GRAIN, wanted, 0) == unsupported
    assert cu.error("cuMemAddressReserve", GRAIN, 0, 0, 0) == unsupported
    assert cu.error("cuMemMap", GRAIN, GRAIN, 0, 0, 0) == unsupported
    assert cu.error("cuMemSetAccess", GRAIN, GRAIN, [access(cu)], 1) == unsupported
    assert cu.error("cuMemUnmap", GRAIN, GRAIN) == unsupported
    assert cu.error("cuMemRelease", 1) == unsupported
    cu.write(cu.cuMemAlloc(GRAIN), b"as ever")


def one_without_handles(cu: Any) -> None:
    """Beside one that has them."""
    window = Window(cu)
    assert cu.error("cuMemCreate", GRAIN, properties(cu, device=1), 0) == "NOT_SUPPORTED"
    wanted = [access(cu, device=1)]
    assert cu.error("cuMemSetAccess", window.address, GRAIN, wanted, 1) == "NOT_SUPPORTED"


@pytest.mark.parametrize("body", [a_kernel_of_a_peer, a_copy_of_a_peer, a_copy_between_two])
@pytest.mark.parametrize("model", [True, False])
def test_peers(emulated: Any, body: Any, model: bool) -> None:
    emulated(body, gpus="2xtiny", model=model)


@pytest.mark.parametrize(
    "body",
    [
        access_goes_with_the_mapping,
        nobody_has_access_at_first,
        what_is_told_of_an_address,
        nvml_counts_it,
    ],
)
def test_one_gpu(emulated: Any, body: Any) -> None:
    emulated(body)


def test_a_gpu_without_handles(emulated: Any) -> None:
    emulated(without_handles, gpus="a10-12q")


def test_a_gpu_without_handles_beside_another(emulated: Any) -> None:
    emulated(one_without_handles, gpus="tiny,a10-12q")
