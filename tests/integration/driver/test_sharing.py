"""Physical memory with addresses of its own choosing, memory of other processes, and pointers."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration.driver.physical import GRAIN, access, properties

MIB = 1 << 20


def two_pieces_side_by_side(cu: Any) -> None:
    free = cu.free()
    flag = cu.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    assert cu.cuMemGetAllocationGranularity(properties(cu), flag) == GRAIN
    address = int(cu.cuMemAddressReserve(2 * GRAIN, 0, 0, 0))
    pieces = [cu.cuMemCreate(GRAIN, properties(cu), 0) for _ in range(2)]
    assert cu.free() == free - 2 * GRAIN
    for number, piece in enumerate(pieces):
        cu.cuMemMap(address + number * GRAIN, GRAIN, 0, piece, 0)
    cu.cuMemSetAccess(address, 2 * GRAIN, [access(cu)], 1)
    assert cu.cuMemGetAccess(access(cu).location, address) == 3
    data = bytes(range(200))
    cu.write(address + GRAIN - 100, data)  # across the seam
    assert cu.read(address + GRAIN - 100, 200) == data
    cu.cuMemsetD8(address + GRAIN - 50, 9, 100)
    assert cu.read(address + GRAIN - 51, 102) == data[49:50] + b"\x09" * 100 + data[150:151]
    assert cu.error("cuMemcpyDtoH", bytearray(10), address + 2 * GRAIN - 5, 10) == "INVALID_VALUE"

    # The memory stays while anything refers to it.
    for piece in pieces:
        cu.cuMemRelease(piece)
    assert cu.free() == free - 2 * GRAIN
    assert int(cu.cuMemRetainAllocationHandle(address + GRAIN + 5)) == int(pieces[1])
    assert cu.error("cuMemAddressFree", address, 2 * GRAIN) == "INVALID_VALUE"
    assert cu.error("cuMemUnmap", address, GRAIN // 2) == "INVALID_VALUE"
    cu.cuMemUnmap(address, 2 * GRAIN)
    assert cu.free() == free - GRAIN  # one handle was asked for above
    cu.cuMemRelease(pieces[1])
    assert cu.free() == free
    assert cu.error("cuMemRelease", pieces[1]) == "INVALID_VALUE"
    cu.cuMemAddressFree(address, 2 * GRAIN)
    assert cu.error("cuMemAddressFree", address, 2 * GRAIN) == "INVALID_VALUE"


def mappings_are_checked(cu: Any) -> None:
    piece = cu.cuMemCreate(2 * GRAIN, properties(cu), 0)
    address = int(cu.cuMemAddressReserve(2 * GRAIN, 0, 0, 0))
    assert address % GRAIN == 0
    assert cu.error("cuMemCreate", GRAIN + 1, properties(cu), 0) == "INVALID_VALUE"
    assert cu.error("cuMemMap", address, 3 * GRAIN, 0, piece, 0) == "INVALID_VALUE"
    assert cu.error("cuMemMap", address + 4096, GRAIN, 0, piece, 0) == "INVALID_VALUE"
    assert cu.error("cuMemMap", address + 4 * GRAIN, GRAIN, 0, piece, 0) == "INVALID_VALUE"
    assert cu.error("cuMemMap", address, GRAIN, 0, 12345, 0) == "INVALID_VALUE"
    assert cu.error("cuMemSetAccess", address, GRAIN, [access(cu)], 1) == "INVALID_VALUE"
    assert cu.error("cuMemMap", address, GRAIN, GRAIN, piece, 0) == "INVALID_VALUE"
    cu.cuMemMap(address, GRAIN, 0, piece, 0)
    assert cu.error("cuMemMap", address, GRAIN, 0, piece, 0) == "INVALID_VALUE"
    assert cu.error("cuMemFree", address) == "INVALID_VALUE"
    location = cu.cuMemGetAllocationPropertiesFromHandle(piece).location
    assert location.id == 0
    # The same memory at two addresses.
    cu.cuMemMap(address + GRAIN, GRAIN, 0, piece, 0)
    cu.cuMemSetAccess(address, 2 * GRAIN, [access(cu)], 1)
    cu.write(address, b"twice")
    assert cu.read(address + GRAIN, 5) == b"twice"
    hint = address + 1024 * GRAIN
    assert int(cu.cuMemAddressReserve(GRAIN, 0, hint, 0)) % GRAIN == 0


CHILD = """
import sys
from inside import Cuda
cu = Cuda()
code, argument = sys.argv[1], sys.argv[2]
exec(code)
"""


def in_another_process(code: str, argument: str, *, files: tuple[int, ...] = ()) -> str:
    folder = str(Path(sys.argv[0]).parent)
    result = subprocess.run(
        [sys.executable, "-c", CHILD, code, argument],
        env={**os.environ, "PYTHONPATH": folder},
        capture_output=True,
        text=True,
        pass_fds=files,
        timeout=30,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def descriptors_cross_processes(cu: Any) -> None:
    piece = cu.cuMemCreate(GRAIN, properties(cu, shared=True), 0)
    kind = cu.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    address = cu.cuMemAddressReserve(GRAIN, 0, 0, 0)
    cu.cuMemMap(address, GRAIN, 0, piece, 0)
    cu.cuMemSetAccess(address, GRAIN, [access(cu)], 1)
    cu.write(address, b"from the first")
    file = int(cu.cuMemExportToShareableHandle(piece, kind, 0))
    free = cu.free()
    code = """
from tests.integration.driver.physical import access
kind = cu.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
free = cu.free()
piece = cu.cuMemImportFromShareableHandle(int(argument), kind)
assert cu.free() == free
address = cu.cuMemAddressReserve(2 << 20, 0, 0, 0)
cu.cuMemMap(address, 2 << 20, 0, piece, 0)
cu.cuMemSetAccess(address, 2 << 20, [access(cu)], 1)
print(cu.read(address, 14).decode())
cu.write(address, b"and the second")
"""
    assert in_another_process(code, str(file), files=(file,)) == "from the first\n"
    assert cu.read(address, 14) == b"and the second"
    assert cu.free() == free
    unshared = cu.cuMemCreate(GRAIN, properties(cu), 0)
    assert cu.error("cuMemExportToShareableHandle", unshared, kind, 0) == "INVALID_VALUE"
    assert cu.error("cuMemImportFromShareableHandle", 0, kind) == "INVALID_VALUE"


OPEN = """
import ctypes
handle = cu.CUipcMemHandle()
ctypes.memmove(handle.getPtr(), bytes.fromhex(argument), 64)
"""


def memory_of_another_process(cu: Any) -> None:
    cu.cuMemAlloc(512)
    address = cu.cuMemAlloc(100_000)
    cu.write(address, b"from the first")
    handle = cu.cuIpcGetMemHandle(address)
    assert cu.error("cuIpcOpenMemHandle", handle, 1) == "INVALID_CONTEXT"
    free = cu.free()
    code = (
        OPEN
        + """
free = cu.free()
address = cu.cuIpcOpenMemHandle(handle, 1)
assert int(cu.cuIpcOpenMemHandle(handle, 1)) == int(address)
assert cu.free() == free
assert cu.cuMemGetAddressRange(address)[1] == 100_000
print(cu.read(address, 14).decode())
cu.cuMemsetD8(address, ord('x'), 5)
assert cu.error("cuMemFree", address) == "INVALID_VALUE"
assert cu.error("cuIpcGetMemHandle", address) == "INVALID_VALUE"
cu.cuIpcCloseMemHandle(address)
cu.cuIpcCloseMemHandle(address)
assert cu.error("cuIpcCloseMemHandle", address) == "INVALID_VALUE"
"""
    )
    text = ctypes.string_at(handle.getPtr(), 64).hex()
    assert in_another_process(code, text) == "from the first\n"
    assert cu.read(address, 14) == b"xxxxxthe first"
    assert cu.free() == free
    for kind in (cu.cuMemAllocManaged(4096, 1), cu.cuMemAllocAsync(4096, 0)):
        assert cu.error("cuIpcGetMemHandle", kind) == "INVALID_VALUE"


def an_exporter_that_is_gone(cu: Any) -> None:
    code = """
import ctypes
handle = cu.cuIpcGetMemHandle(cu.cuMemAlloc(4096))
print(ctypes.string_at(handle.getPtr(), 64).hex())
"""
    handle = cu.CUipcMemHandle()
    ctypes.memmove(handle.getPtr(), bytes.fromhex(in_another_process(code, "").strip()), 64)
    assert cu.error("cuIpcOpenMemHandle", handle, 1) == "INVALID_HANDLE"


def value(cu: Any, name: str, address: Any) -> Any:
    which = getattr(cu.CUpointer_attribute, f"CU_POINTER_ATTRIBUTE_{name}")
    return cu.cuPointerGetAttribute(which, address)


def pointers(cu: Any) -> None:
    plain, managed = int(cu.cuMemAlloc(5000)), int(cu.cuMemAllocManaged(5000, 1))
    host = int(cu.cuMemHostAlloc(5000, 0))
    types = cu.CUmemorytype
    for address, kind in ((plain, 2), (managed, 2), (host, 1)):
        assert int(value(cu, "MEMORY_TYPE", address + 9)) == kind, types(kind)
        assert int(value(cu, "CONTEXT", address)) == int(cu.context)
        assert int(value(cu, "DEVICE_POINTER", address + 9)) == address + 9
        assert int(value(cu, "RANGE_START_ADDR", address + 9)) == address
        assert value(cu, "RANGE_SIZE", address + 9) == 5000
        assert value(cu, "DEVICE_ORDINAL", address) == 0
        assert value(cu, "MAPPED", address)
        assert not value(cu, "SYNC_MEMOPS", address)
    assert not value(cu, "IS_MANAGED", plain)
    assert value(cu, "IS_MANAGED", managed)
    assert value(cu, "IS_LEGACY_CUDA_IPC_CAPABLE", plain)
    assert not value(cu, "IS_LEGACY_CUDA_IPC_CAPABLE", managed)
    assert len({value(cu, "BUFFER_ID", address) for address in (plain, managed, host)}) == 3
    assert int(value(cu, "HOST_POINTER", host + 3)) == host + 3
    which = cu.CUpointer_attribute
    host_pointer = which.CU_POINTER_ATTRIBUTE_HOST_POINTER
    assert cu.error("cuPointerGetAttribute", host_pointer, plain) == "INVALID_VALUE"
    unknown = ctypes.addressof(ctypes.create_string_buffer(10))
    kind_of = which.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    assert cu.error("cuPointerGetAttribute", kind_of, unknown) == "INVALID_VALUE"
    size = which.CU_POINTER_ATTRIBUTE_RANGE_SIZE
    assert list(cu.cuPointerGetAttributes(2, [kind_of, size], unknown)) == [0, 0]
    assert list(cu.cuPointerGetAttributes(2, [kind_of, size], plain)) == [2, 5000]
    tokens = which.CU_POINTER_ATTRIBUTE_P2P_TOKENS
    assert cu.error("cuPointerGetAttribute", tokens, plain) == "NOT_SUPPORTED"


def pointers_to_mappings(cu: Any) -> None:
    address = int(cu.cuMemAddressReserve(4 * GRAIN, 0, 0, 0))
    piece = cu.cuMemCreate(GRAIN, properties(cu), 0)
    cu.cuMemMap(address + GRAIN, GRAIN, 0, piece, 0)
    inside = address + GRAIN + 7
    assert int(value(cu, "RANGE_START_ADDR", inside)) == address
    assert value(cu, "RANGE_SIZE", inside) == 4 * GRAIN
    assert int(value(cu, "MAPPING_BASE_ADDR", inside)) == address + GRAIN
    assert value(cu, "MAPPING_SIZE", inside) == GRAIN
    assert value(cu, "MAPPED", inside)
    assert not value(cu, "MAPPED", address)
    base, size = cu.cuMemGetAddressRange(inside)
    assert (int(base), size) == (address + GRAIN, GRAIN)


def textures_keep_their_description(cu: Any) -> None:
    address = cu.cuMemAlloc(4096)
    resource = cu.CUDA_RESOURCE_DESC()
    resource.resType = cu.CUresourcetype.CU_RESOURCE_TYPE_LINEAR
    resource.res.linear.devPtr = address
    resource.res.linear.sizeInBytes = 4096
    sampling = cu.CUDA_TEXTURE_DESC()
    sampling.maxAnisotropy = 7
    texture = cu.cuTexObjectCreate(resource, sampling, None)
    assert cu.cuTexObjectGetResourceDesc(texture).res.linear.sizeInBytes == 4096
    assert cu.cuTexObjectGetTextureDesc(texture).maxAnisotropy == 7
    cu.cuTexObjectDestroy(texture)
    assert cu.error("cuTexObjectDestroy", texture) == "INVALID_VALUE"


BODIES = [
    two_pieces_side_by_side,
    mappings_are_checked,
    descriptors_cross_processes,
    memory_of_another_process,
    an_exporter_that_is_gone,
    pointers,
    pointers_to_mappings,
    textures_keep_their_description,
]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_sharing(emulated: Any, body: Any) -> None:
    emulated(body)
