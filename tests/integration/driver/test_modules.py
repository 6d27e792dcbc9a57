"""Modules, libraries and their kernels, as ``cuda.bindings.driver`` sees them."""

import array
import ctypes
import struct
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest

Emulated = Callable[..., str]

PTX = (files("nvshare") / "lab" / "emulator" / "kernels.ptx").read_bytes()
MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15

OTHER_PTX = b"""
.version 6.3
.target sm_60
.address_size 64
.visible .global .u32 counter = 41;
.visible .global .align 8 .b8 table[24];
.visible .entry nvshare_fill_u32(.param .u64 data, .param .u32 value, .param .u64 count)
.maxntid 128, 1, 1
{ .shared .align 4 .b8 scratch[512]; ret; }
"""


def mix(x: int) -> int:
    """Finish a splitmix64 step, as the kernels do."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def launch(cu: Any, function: Any, values: tuple[Any, ...], types: tuple[Any, ...]) -> None:
    # Addresses are objects of their own, which ctypes does not take for numbers.
    plain = tuple(value if isinstance(value, float) else int(value) for value in values)
    cu.cuLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, 0, (plain, types), 0)
    cu.cuCtxSynchronize()


U64, U32, F32 = ctypes.c_uint64, ctypes.c_uint32, ctypes.c_float


def finds_functions_and_their_parameters(cu: Any) -> None:
    module = cu.cuModuleLoadData(PTX)
    assert cu.cuModuleGetFunctionCount(module) == 11
    functions = cu.cuModuleEnumerateFunctions(8, module)
    assert cu.cuFuncGetName(functions[2]) == b"nvshare_add_f32"
    function = cu.cuModuleGetFunction(module, b"nvshare_fill_f32")
    assert cu.cuFuncGetParamCount(function) == 3
    assert [cu.cuFuncGetParamInfo(function, i) for i in range(3)] == [(0, 8), (8, 4), (16, 8)]
    assert cu.error("cuFuncGetParamInfo", function, 3) == "INVALID_VALUE"
    assert int(cu.cuFuncGetModule(function)) == int(module)
    assert cu.cuFuncIsLoaded(function) == cu.CUfunctionLoadingState(1)
    assert cu.error("cuModuleGetFunction", module, b"missing") == "NOT_FOUND"
    assert cu.error("cuModuleGetTexRef", module, b"missing") == "NOT_FOUND"
    assert cu.error("cuModuleGetGlobal", module, b"missing") == "NOT_FOUND"
    cu.cuModuleUnload(module)


def says_what_is_wrong_with_an_image(cu: Any) -> None:
    log = bytearray(1024)
    options = [
        cu.CUjit_option.CU_JIT_ERROR_LOG_BUFFER,
        cu.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ]
    broken = b".version 6.3\n.target sm_60\n.visible .entry broken(\n"
    assert cu.error("cuModuleLoadDataEx", broken, 2, options, [log, len(log)]) == "INVALID_PTX"
    assert log.rstrip(b"\0")
    too_new = PTX.replace(b"sm_60", b"sm_90")
    assert cu.error("cuModuleLoadData", too_new) in ("INVALID_PTX", "NO_BINARY_FOR_GPU")
    assert cu.error("cuModuleLoadData", b"\x7fELF" + bytes(200)) == "INVALID_IMAGE"
    assert cu.error("cuModuleLoad", b"/nowhere/kernels.ptx") == "FILE_NOT_FOUND"
    cu.cuCtxSetCurrent(cu.CUcontext(0))
    assert cu.error("cuModuleLoadData", PTX) == "INVALID_CONTEXT"


def variables_have_their_initial_values(cu: Any) -> None:
    free = cu.free()
    module = cu.cuModuleLoadData(OTHER_PTX)
    counter, counter_bytes = cu.cuModuleGetGlobal(module, b"counter")
    table, table_bytes = cu.cuModuleGetGlobal(module, b"table")
    assert (counter_bytes, table_bytes) == (4, 24)
    assert cu.read(counter, 4) == struct.pack("<I", 41)
    assert cu.read(table, 24) == bytes(24)
    cu.write(counter, struct.pack("<I", 42))
    assert int(cu.cuModuleGetGlobal(module, b"counter")[0]) == int(counter)
    assert cu.read(counter, 4) == struct.pack("<I", 42)
    cu.cuModuleUnload(module)
    assert cu.free() == free
    again = cu.cuModuleLoadData(OTHER_PTX)
    assert cu.read(cu.cuModuleGetGlobal(again, b"counter")[0], 4) == struct.pack("<I", 41)
    assert cu.read(cu.cuModuleGetGlobal(again, b"table")[0], 24) == bytes(24)


def named_kernels_compute(cu: Any) -> None:
    module = cu.cuModuleLoadData(PTX)

    def run(name: str, values: tuple[Any, ...], types: tuple[Any, ...]) -> None:
        launch(cu, cu.cuModuleGetFunction(module, name.encode()), values, types)

    count = 1000
    x, y, z = (cu.cuMemAlloc(count * 4) for _ in range(3))
    out = cu.cuMemAlloc(8)

    def result() -> int:
        (value,) = struct.unpack("<Q", cu.read(out, 8))
        cu.cuMemsetD8(out, 0, 8)
        return int(value)

    result()
    run("nvshare_fill_f32", (x, 1.5, count), (U64, F32, U64))
    run("nvshare_fill_f32", (y, 2.25, count), (U64, F32, U64))
    run("nvshare_add_f32", (x, y, z, count), (U64, U64, U64, U64))
    assert array.array("f", cu.read(z, count * 4)).tolist() == [3.75] * count

    run("nvshare_fill_u32", (x, 0xFFFFFFFF, count), (U64, U32, U64))
    run("nvshare_sum_u32", (x, out, count), (U64, U64, U64))
    assert result() == count * 0xFFFFFFFF

    run("nvshare_pattern_u64", (x, count // 2, 7), (U64, U64, U64))
    expected = [mix((7 + i * GOLDEN) & MASK) for i in range(count // 2)]
    assert array.array("Q", cu.read(x, count * 4)).tolist() == expected
    mismatches = (U64, U64, U64, U64)
    run("nvshare_count_mismatches_u64", (x, count // 2, 7, out), mismatches)
    assert result() == 0
    cu.cuMemsetD8(int(x) + 80, 0, 16)
    run("nvshare_count_mismatches_u64", (x, count // 2, 7, out), mismatches)
    assert result() == 2

    data = bytes(range(29))
    cu.write(y, data)
    run("nvshare_checksum", (y, len(data), out), (U64, U64, U64))
    words = struct.unpack("<4Q", data.ljust(32, b"\0"))
    parts = (mix(word ^ ((i + 1) * GOLDEN & MASK)) for i, word in enumerate(words))
    assert result() == sum(parts) & MASK


def a_kernel_of_the_same_name_is_left_alone(cu: Any) -> None:
    module = cu.cuModuleLoadData(OTHER_PTX)
    function = cu.cuModuleGetFunction(module, b"nvshare_fill_u32")
    data = cu.cuMemAlloc(64)
    cu.cuMemsetD8(data, 0, 64)
    launch(cu, function, (data, 7, 16), (U64, U32, U64))
    assert cu.read(data, 64) == bytes(64)


def kernels_work_through_several_mappings(cu: Any) -> None:
    module = cu.cuModuleLoadData(PTX)
    size = 2 << 20
    place = cu.CUmemLocation()
    place.type, place.id = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, 0
    kind = cu.CUmemAllocationProp()
    kind.type, kind.location = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED, place
    access = cu.CUmemAccessDesc()
    access.location = place
    access.flags = cu.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    # Mapped the other way round, so that the bytes do not lie side by side.
    first, second = (cu.cuMemCreate(size, kind, 0) for _ in range(2))
    address = cu.cuMemAddressReserve(2 * size, 0, 0, 0)
    cu.cuMemMap(address, size, 0, second, 0)
    cu.cuMemMap(int(address) + size, size, 0, first, 0)
    cu.cuMemSetAccess(address, 2 * size, [access], 1)
    out = cu.cuMemAlloc(8)
    cu.cuMemsetD8(out, 0, 8)
    fill = cu.cuModuleGetFunction(module, b"nvshare_fill_u32")
    launch(cu, fill, (address, 3, 2 * size // 4), (U64, U32, U64))
    total = cu.cuModuleGetFunction(module, b"nvshare_sum_u32")
    launch(cu, total, (address, out, 2 * size // 4), (U64, U64, U64))
    assert struct.unpack("<Q", cu.read(out, 8)) == (3 * 2 * size // 4,)


def spinning_takes_its_time(cu: Any) -> None:
    module = cu.cuModuleLoadData(PTX)
    spin = cu.cuModuleGetFunction(module, b"nvshare_spin")
    begin, end = cu.cuEventCreate(0), cu.cuEventCreate(0)
    cu.cuEventRecord(begin, 0)
    for _ in range(3):
        cu.cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, 0, ((250_000,), (U64,)), 0)
    cu.cuEventRecord(end, 0)
    cu.cuEventSynchronize(end)
    assert cu.cuEventElapsedTime(begin, end) == pytest.approx(750, rel=0.01)


def libraries_belong_to_no_context(cu: Any) -> None:
    cu.cuCtxSetCurrent(cu.CUcontext(0))
    library = cu.cuLibraryLoadData(OTHER_PTX, [], [], 0, [], [], 0)
    ours = cu.cuLibraryLoadData(PTX, [], [], 0, [], [], 0)
    assert cu.cuLibraryGetKernelCount(ours) == 11
    kernel = cu.cuLibraryGetKernel(ours, b"nvshare_fill_u32")
    assert cu.cuKernelGetName(kernel) == b"nvshare_fill_u32"
    assert int(cu.cuKernelGetLibrary(kernel)) == int(ours)
    assert cu.cuKernelGetParamInfo(kernel, 1) == (8, 4)
    assert cu.error("cuLibraryGetKernel", ours, b"missing") == "NOT_FOUND"
    assert cu.error("cuLibraryGetGlobal", library, b"counter") == "INVALID_CONTEXT"

    cu.cuCtxSetCurrent(cu.context)
    address, size = cu.cuLibraryGetGlobal(library, b"counter")
    assert (cu.read(address, 4), size) == (struct.pack("<I", 41), 4)
    other = cu.cuCtxCreate(cu.CUctxCreateParams(), 0, cu.device)
    elsewhere, _ = cu.cuLibraryGetGlobal(library, b"counter")
    assert int(elsewhere) != int(address)
    cu.cuCtxDestroy(other)
    cu.cuCtxSetCurrent(cu.context)
    assert int(cu.cuLibraryGetGlobal(library, b"counter")[0]) == int(address)
    assert cu.error("cuLibraryGetManaged", library, b"counter") == "NOT_FOUND"

    data = cu.cuMemAlloc(64)
    launch(cu, cu.cuKernelGetFunction(kernel), (data, 9, 16), (U64, U32, U64))
    assert cu.read(data, 64) == struct.pack("<I", 9) * 16
    kernel_as_function = cu.CUfunction(int(kernel))
    launch(cu, kernel_as_function, (data, 8, 16), (U64, U32, U64))
    assert cu.read(data, 64) == struct.pack("<I", 8) * 16
    cu.cuLibraryUnload(ours)
    cu.cuLibraryUnload(library)


def attributes_come_from_the_image(cu: Any) -> None:
    A = cu.CUfunction_attribute  # noqa: N806
    module = cu.cuModuleLoadData(OTHER_PTX)
    function = cu.cuModuleGetFunction(module, b"nvshare_fill_u32")
    shared = A.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    assert cu.cuFuncGetAttribute(A.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function) == 128
    assert cu.cuFuncGetAttribute(A.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function) == 512
    assert cu.cuFuncGetAttribute(A.CU_FUNC_ATTRIBUTE_BINARY_VERSION, function) == 75
    assert cu.cuFuncGetAttribute(A.CU_FUNC_ATTRIBUTE_PTX_VERSION, function) == 60
    assert cu.cuFuncGetAttribute(shared, function) == 48 * 1024 - 512
    cu.cuFuncSetAttribute(function, shared, 64 * 1024 - 512)
    assert cu.cuFuncGetAttribute(shared, function) == 64 * 1024 - 512
    assert cu.error("cuFuncSetAttribute", function, shared, 64 * 1024) == "INVALID_VALUE"
    registers = A.CU_FUNC_ATTRIBUTE_NUM_REGS
    assert cu.cuFuncGetAttribute(registers, function) > 0
    assert cu.error("cuFuncSetAttribute", function, registers, 1) == "INVALID_VALUE"
    parameters = ((0, 0, 0), (U64, U32, U64))
    launch_args = (function, 1, 1, 1, 129, 1, 1, 0, 0, parameters, 0)
    assert cu.error("cuLaunchKernel", *launch_args) == "INVALID_VALUE"


def occupancy_is_bounded_by_every_resource(cu: Any) -> None:
    module = cu.cuModuleLoadData(PTX)
    function = cu.cuModuleGetFunction(module, b"nvshare_add_f32")
    blocks = cu.cuOccupancyMaxActiveBlocksPerMultiprocessor
    assert blocks(function, 1024, 0) == 1  # threads: 1024 of a T4
    assert blocks(function, 256, 0) == 4
    assert blocks(function, 33, 0) == 16  # blocks
    assert blocks(function, 64, 20 * 1024) == 3  # shared memory: 64 KiB
    assert blocks(function, 64, 49 * 1024) == 0  # has not been asked for
    assert blocks(function, 2048, 0) == 0
    assert cu.error("cuOccupancyMaxActiveBlocksPerMultiprocessor", function, 0, 0) == (
        "INVALID_VALUE"
    )
    assert cu.cuOccupancyMaxPotentialBlockSize(function, None, 0, 0) == (40, 1024)
    assert cu.cuOccupancyMaxPotentialBlockSize(function, None, 0, 100) == (40 * 16, 64)
    assert cu.cuOccupancyAvailableDynamicSMemPerBlock(function, 2, 256) == 32 * 1024


def the_linker_hands_the_kernels_back(cu: Any) -> None:
    kinds = cu.CUjitInputType
    state = cu.cuLinkCreate(0, [], [])
    assert cu.error("cuLinkComplete", state) == "INVALID_VALUE"
    broken = b".version 6.3\n.target sm_60\n.visible .entry broken("
    add = (state, kinds.CU_JIT_INPUT_PTX)
    assert cu.error("cuLinkAddData", *add, broken, len(broken), b"", 0, [], []) == "INVALID_PTX"
    cu.cuLinkAddData(*add, PTX, len(PTX), b"kernels", 0, [], [])
    helpers = b".version 6.3\n.target sm_60\n.address_size 64\n.visible .func f() { ret; }\n"
    cu.cuLinkAddData(*add, helpers, len(helpers), b"helpers", 0, [], [])
    assert cu.error("cuLinkAddFile", *add, b"/nowhere", 0, [], []) == "FILE_NOT_FOUND"
    image, size = cu.cuLinkComplete(state)
    module = cu.cuModuleLoadData(ctypes.string_at(image, size))
    cu.cuLinkDestroy(state)
    assert cu.cuModuleGetFunctionCount(module) == 11


def kernels_can_be_launched_as_in_cuda_3(cu: Any) -> None:
    module = cu.cuModuleLoadData(PTX)
    function = ctypes.c_void_p(int(cu.cuModuleGetFunction(module, b"nvshare_fill_u32")))
    data = cu.cuMemAlloc(64)
    address, count = U64(int(data)), U64(16)
    lib = cu.libcuda
    assert lib.cuFuncSetBlockShape(function, 16, 1, 1) == 0
    assert lib.cuParamSetv(function, 0, ctypes.byref(address), 8) == 0
    assert lib.cuParamSeti(function, 8, 77) == 0
    assert lib.cuParamSetv(function, 16, ctypes.byref(count), 8) == 0
    assert lib.cuParamSetSize(function, 24) == 0
    assert lib.cuParamSetv(function, 4090, ctypes.byref(count), 8) == 1  # INVALID_VALUE
    assert lib.cuLaunchGrid(function, 1, 1) == 0
    cu.cuCtxSynchronize()
    assert cu.read(data, 64) == struct.pack("<I", 77) * 16


@pytest.mark.parametrize(
    "body",
    [
        finds_functions_and_their_parameters,
        says_what_is_wrong_with_an_image,
        variables_have_their_initial_values,
        named_kernels_compute,
        a_kernel_of_the_same_name_is_left_alone,
        kernels_work_through_several_mappings,
        libraries_belong_to_no_context,
        attributes_come_from_the_image,
        occupancy_is_bounded_by_every_resource,
        the_linker_hands_the_kernels_back,
        kernels_can_be_launched_as_in_cuda_3,
    ],
)
def test_modules(emulated: Emulated, body: Callable[[Any], None]) -> None:
    emulated(body)


def test_spinning_takes_its_time(emulated: Emulated) -> None:
    # Slow enough that the time between two calls does not count.
    emulated(spinning_takes_its_time, speed=10)
