"""Every form of copy and fill: the right bytes arrive, and the right calls wait for them."""

import ctypes
import time
from typing import Any

import pytest

MIB = 1 << 20
TEXT = bytes(range(256)) * 16


def there_and_back(cu: Any) -> None:
    first, second = cu.cuMemAlloc(4096), cu.cuMemAlloc(4096)
    cu.cuMemcpyHtoD(first, TEXT, 4096)
    cu.cuMemcpyDtoD(second, first, 4096)
    assert cu.read(second, 4096) == TEXT
    cu.cuMemcpyDtoD(int(second) + 100, int(first) + 50, 200)
    assert cu.read(int(second) + 99, 202) == TEXT[99:100] + TEXT[50:250] + TEXT[300:301]
    cu.cuMemcpyHtoDAsync(first, TEXT[::-1], 4096, 0)
    cu.cuMemcpyDtoDAsync(second, first, 4096, 0)
    target = bytearray(4096)
    cu.cuMemcpyDtoHAsync(target, second, 4096, 0)
    assert target == TEXT[::-1]  # pageable memory makes it wait
    own = ctypes.create_string_buffer(TEXT, 4096)
    cu.cuMemcpy(first, ctypes.addressof(own), 4096)
    cu.cuMemcpyAsync(second, first, 4096, 0)
    ctypes.memset(own, 0, 4096)
    cu.cuMemcpy(ctypes.addressof(own), second, 4096)
    assert own.raw == TEXT


def unknown_addresses_are_refused(cu: Any) -> None:
    address, buffer = cu.cuMemAlloc(4096), bytearray(8192)
    assert cu.error("cuMemcpyHtoD", 4096, buffer, 4) == "INVALID_VALUE"
    assert cu.error("cuMemcpyHtoD", address, buffer, 4097) == "INVALID_VALUE"
    assert cu.error("cuMemcpyDtoH", buffer, int(address) + 4000, 97) == "INVALID_VALUE"
    assert cu.error("cuMemcpyDtoD", address, int(address) + (1 << 30), 4) == "INVALID_VALUE"
    assert cu.error("cuMemcpyHtoDAsync", address, buffer, 1 << 63, 0) == "INVALID_VALUE"
    assert cu.error("cuMemcpy", address, 0, 4) == "INVALID_VALUE"
    cu.cuMemFree(address)
    # Freed memory, and addresses that never were the program's: the CPU would fault on them.
    assert cu.error("cuMemcpyHtoD", address, buffer, 4) == "INVALID_VALUE"
    assert cu.error("cuMemcpy", cu.cuMemAlloc(4096), int(address) + 4096, 4) == "INVALID_VALUE"


def nothing_to_copy_is_no_error(cu: Any) -> None:
    address = cu.cuMemAlloc(16)
    cu.cuMemcpyHtoD(address, b"x", 0)
    cu.cuMemcpyDtoD(address, address, 0)
    cu.cuMemsetD8(address, 0, 0)
    cu.cuMemsetD2D8(address, 16, 0, 0, 5)


def pinned_copies_return_at_once(cu: Any) -> None:
    size = 120 * MIB  # 10 ms at 12 GB/s, 100 ms of real time at this speed
    device, host = cu.cuMemAlloc(size), cu.cuMemHostAlloc(size, 0)
    begin = time.monotonic()
    cu.cuMemcpyHtoDAsync(device, host, size, 0)
    queued = time.monotonic() - begin
    cu.cuCtxSynchronize()
    done = time.monotonic() - begin
    assert done > 0.09
    assert queued < done / 2


def device_copies_do_not_make_the_host_wait(cu: Any) -> None:
    size = 100 * MIB
    first, second = cu.cuMemAlloc(size), cu.cuMemAlloc(size)
    begin = time.monotonic()
    cu.cuMemcpyDtoD(second, first, size)
    cu.cuMemsetD8(first, 1, size)
    queued = time.monotonic() - begin
    cu.cuCtxSynchronize()
    assert queued < (time.monotonic() - begin) / 2
    sync = cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
    cu.cuPointerSetAttribute(1, sync, first)
    cu.cuMemsetD8(first, 2, size)
    assert cu.cuStreamQuery(0) is None  # it waited


def fills(cu: Any) -> None:
    address = cu.cuMemAlloc(4096)
    cu.cuMemsetD8(address, 7, 4096)
    cu.cuMemsetD16(int(address) + 2, 0x0102, 2)
    cu.cuMemsetD32Async(int(address) + 8, 0x01020304, 2, 0)
    assert cu.read(address, 17) == b"\7\7\2\1\2\1\7\7" + b"\4\3\2\1" * 2 + b"\7"
    assert cu.error("cuMemsetD16", int(address) + 1, 0, 1) == "INVALID_VALUE"
    assert cu.error("cuMemsetD32", int(address) + 2, 0, 1) == "INVALID_VALUE"
    assert cu.error("cuMemsetD8", address, 0, 4097) == "INVALID_VALUE"
    cu.cuMemsetD2D32(address, 64, 0xFFFFFFFF, 2, 3)
    rows = cu.read(address, 192)
    assert all(rows[64 * i : 64 * i + 8] == b"\xff" * 8 for i in range(3))
    assert rows[8:17] == b"\4\3\2\1\4\3\2\1\7"
    assert cu.error("cuMemsetD2D16", address, 63, 0, 4, 2) == "INVALID_VALUE"
    assert cu.error("cuMemsetD2D16", address, 1024, 0, 4, 5) == "INVALID_VALUE"
    # A number that halves to odd ones, up to the last byte and not beyond.
    cu.cuMemsetD16(address, 0x0506, 2043)
    assert cu.read(address, 4096) == b"\6\5" * 2043 + b"\7" * 10
    managed = cu.cuMemAllocManaged(4096, 1)
    cu.cuMemsetD8(managed, 9, 4096)
    assert ctypes.string_at(int(managed), 4096) == b"\x09" * 4096


def plane(cu: Any, **fields: Any) -> Any:
    copy = cu.CUDA_MEMCPY2D()
    for name, value in fields.items():
        setattr(copy, name, value)
    return copy


def planes(cu: Any) -> None:
    kind = cu.CUmemorytype
    address, pitch = cu.cuMemAllocPitch(10, 4, 4)
    text = ctypes.create_string_buffer(TEXT, 4096)
    down = plane(
        cu,
        srcMemoryType=kind.CU_MEMORYTYPE_HOST,
        srcHost=ctypes.addressof(text),
        srcPitch=16,
        srcXInBytes=2,
        srcY=1,
        dstMemoryType=kind.CU_MEMORYTYPE_DEVICE,
        dstDevice=address,
        dstPitch=pitch,
        WidthInBytes=10,
        Height=4,
    )
    cu.cuMemcpy2D(down)
    assert cu.read(int(address) + 2 * pitch, 10) == TEXT[16 * 3 + 2 : 16 * 3 + 12]
    back = ctypes.create_string_buffer(40)
    up = plane(
        cu,
        srcMemoryType=kind.CU_MEMORYTYPE_UNIFIED,
        srcDevice=address,
        srcPitch=pitch,
        dstMemoryType=kind.CU_MEMORYTYPE_HOST,
        dstHost=ctypes.addressof(back),
        dstPitch=10,
        WidthInBytes=10,
        Height=4,
    )
    cu.cuMemcpy2DAsync(up, 0)
    assert back.raw == b"".join(TEXT[16 * y + 2 : 16 * y + 12] for y in range(1, 5))
    up.Height = 5
    assert cu.error("cuMemcpy2DUnaligned", up) == "INVALID_VALUE"
    up.Height, up.srcPitch = 4, 9
    assert cu.error("cuMemcpy2D", up) == "INVALID_VALUE"


def boxes_and_arrays(cu: Any) -> None:
    free = cu.free()
    shape = cu.CUDA_ARRAY3D_DESCRIPTOR()
    shape.Width, shape.Height, shape.Depth = 4, 3, 2
    shape.Format, shape.NumChannels = cu.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT8, 2
    array = cu.cuArray3DCreate(shape)
    assert cu.free() < free
    assert cu.cuArray3DGetDescriptor(array).Depth == 2
    kind = cu.CUmemorytype
    text = ctypes.create_string_buffer(TEXT, 4096)
    copy = cu.CUDA_MEMCPY3D()
    copy.srcMemoryType, copy.srcHost = kind.CU_MEMORYTYPE_HOST, ctypes.addressof(text)
    copy.srcPitch, copy.srcHeight = 8, 3
    copy.dstMemoryType, copy.dstArray = kind.CU_MEMORYTYPE_ARRAY, array
    copy.WidthInBytes, copy.Height, copy.Depth = 8, 3, 2
    cu.cuMemcpy3D(copy)
    back = bytearray(48)
    cu.cuMemcpyAtoH(back, array, 0, 48)
    assert back == TEXT[:48]
    copy.dstXInBytes = 1
    assert cu.error("cuMemcpy3D", copy) == "INVALID_VALUE"

    inner = cu.CUDA_MEMCPY3D()
    device = cu.cuMemAlloc(64)
    inner.srcMemoryType, inner.srcArray = kind.CU_MEMORYTYPE_ARRAY, array
    inner.srcXInBytes, inner.srcY, inner.srcZ = 2, 1, 1
    inner.dstMemoryType, inner.dstDevice = kind.CU_MEMORYTYPE_DEVICE, device
    inner.dstPitch, inner.dstHeight = 4, 2
    inner.WidthInBytes, inner.Height, inner.Depth = 4, 2, 1
    cu.cuMemcpy3DAsync(inner, 0)
    assert cu.read(device, 8) == TEXT[34:38] + TEXT[42:46]
    cu.cuArrayDestroy(array)
    cu.cuMemFree(device)
    assert cu.free() == free


def lines_of_arrays(cu: Any) -> None:
    shape = cu.CUDA_ARRAY_DESCRIPTOR()
    shape.Width, shape.NumChannels = 100, 1
    shape.Format = cu.CUarray_format.CU_AD_FORMAT_FLOAT
    first, second = cu.cuArrayCreate(shape), cu.cuArrayCreate(shape)
    device = cu.cuMemAlloc(400)
    cu.cuMemcpyHtoA(first, 0, TEXT, 400)
    cu.cuMemcpyAtoA(second, 100, first, 0, 300)
    cu.cuMemcpyAtoD(device, second, 0, 400)
    assert cu.read(device, 400)[100:] == TEXT[:300]
    cu.cuMemcpyDtoA(first, 0, device, 400)
    back = bytearray(4)
    cu.cuMemcpyAtoHAsync(back, first, 100, 4, 0)
    assert back == TEXT[:4]
    assert cu.error("cuMemcpyHtoA", first, 200, TEXT, 300) == "INVALID_VALUE"
    assert cu.cuArrayGetDescriptor(first).Width == 100


def mipmaps(cu: Any) -> None:
    free = cu.free()
    shape = cu.CUDA_ARRAY3D_DESCRIPTOR()
    shape.Width, shape.Height, shape.NumChannels = 64, 32, 4
    shape.Format = cu.CUarray_format.CU_AD_FORMAT_HALF
    mipmap = cu.cuMipmappedArrayCreate(shape, 3)
    level = cu.cuMipmappedArrayGetLevel(mipmap, 2)
    assert (cu.cuArrayGetDescriptor(level).Width, cu.cuArrayGetDescriptor(level).Height) == (16, 8)
    cu.cuMemcpyHtoA(level, 0, TEXT, 1024)
    back = bytearray(1024)
    cu.cuMemcpyAtoH(back, level, 0, 1024)
    assert back == TEXT[:1024]
    assert cu.error("cuMipmappedArrayGetLevel", mipmap, 3) == "INVALID_VALUE"
    assert cu.error("cuArrayDestroy", level) == "INVALID_HANDLE"
    cu.cuMipmappedArrayDestroy(mipmap)
    assert cu.free() == free


def batches(cu: Any) -> None:
    stream = cu.cuStreamCreate(0)
    first, second, third = (cu.cuMemAlloc(4096) for _ in range(3))
    cu.write(first, TEXT)
    how = cu.CUmemcpyAttributes()
    how.srcAccessOrder = cu.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
    sources = [first, cu.CUdeviceptr(int(first) + 8)]
    cu.cuMemcpyBatchAsync([second, third], sources, [4096, 8], 2, [how], [0], 1, stream)
    cu.cuStreamSynchronize(stream)
    assert cu.read(second, 4096) == TEXT
    assert cu.read(third, 8) == TEXT[8:16]
    assert (
        cu.error("cuMemcpyBatchAsync", [second], [first], [5000], 1, [how], [0], 1, stream)
        == "INVALID_VALUE"
    )


def between_gpus(cu: Any) -> None:
    other = cu.cuDevicePrimaryCtxRetain(cu.cuDeviceGet(1))
    here = cu.cuMemAlloc(4096)
    cu.write(here, TEXT)
    assert cu.cuDeviceCanAccessPeer(0, 1) == 1
    assert cu.cuDeviceCanAccessPeer(0, 0) == 0
    cu.cuCtxEnablePeerAccess(other, 0)
    assert cu.error("cuCtxEnablePeerAccess", other, 0) == "PEER_ACCESS_ALREADY_ENABLED"
    assert cu.error("cuCtxEnablePeerAccess", cu.context, 0) == "INVALID_CONTEXT"
    cu.cuCtxPushCurrent(other)
    there = cu.cuMemAlloc(4096)
    cu.cuCtxPopCurrent()
    cu.cuMemcpyPeer(there, other, here, cu.context, 4096)
    assert cu.read(there, 4096) == TEXT
    cu.cuMemsetD8(here, 0, 4096)
    cu.cuMemcpyPeerAsync(here, cu.context, there, other, 4096, 0)
    assert cu.read(here, 4096) == TEXT
    copy = cu.CUDA_MEMCPY3D_PEER()
    copy.srcMemoryType = copy.dstMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
    copy.srcDevice, copy.srcContext, copy.srcPitch, copy.srcHeight = here, cu.context, 16, 2
    copy.dstDevice, copy.dstContext, copy.dstPitch, copy.dstHeight = there, other, 16, 2
    copy.dstZ, copy.WidthInBytes, copy.Height, copy.Depth = 1, 16, 2, 1
    cu.cuMemcpy3DPeer(copy)
    assert cu.read(there, 64) == TEXT[:32] + TEXT[:32]
    cu.cuCtxDisablePeerAccess(other)
    assert cu.error("cuCtxDisablePeerAccess", other) == "PEER_ACCESS_NOT_ENABLED"


BODIES = [
    there_and_back,
    unknown_addresses_are_refused,
    nothing_to_copy_is_no_error,
    fills,
    planes,
    boxes_and_arrays,
    lines_of_arrays,
    mipmaps,
    batches,
]


@pytest.mark.parametrize("model", [True, False], ids=["model", "bare"])
@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_on_one_gpu(emulated: Any, body: Any, model: bool) -> None:
    emulated(body, model=model)


@pytest.mark.parametrize(
    "body", [pinned_copies_return_at_once, device_copies_do_not_make_the_host_wait]
)
def test_who_waits(emulated: Any, body: Any) -> None:
    emulated(body, speed=0.1, data="off")


def test_between_gpus(emulated: Any) -> None:
    emulated(between_gpus, gpus="2xtiny")


def nothing_is_stored(cu: Any) -> None:
    first, second = cu.cuMemAlloc(4096), cu.cuMemAlloc(4096)
    buffer = bytearray(b"\1" * 4096)
    cu.cuMemcpyHtoD(first, TEXT, 4096)
    cu.cuMemsetD8(second, 7, 4096)
    cu.cuMemcpyDtoD(second, first, 4096)
    cu.cuMemcpyDtoH(buffer, second, 4096)
    assert buffer == b"\1" * 4096


def test_without_data(emulated: Any) -> None:
    emulated(nothing_is_stored, data="off")
