"""Modules and libraries from a program's own PTX, and the driver's answers about its kernels.

Nothing here checks the results of kernels: on an emulated GPU they take time and have no effect.
"""

import ctypes

import numpy as np
from checked import begin, failure, ok
from cuda.bindings import driver as cu

PTX = b"""
.version 7.0
.target sm_60
.address_size 64

.visible .global .align 8 .b8 table[64];
.visible .const .align 4 .f32 factor = 0f3FC00000;

.visible .entry scale(
    .param .u64 data,
    .param .f32 by,
    .param .align 8 .b8 shape[24],
    .param .u32 count)
.maxntid 256, 1, 1
{
    .reg .u64 %at;
    .reg .u32 %thread, %count;
    .reg .f32 %value, %by;
    .reg .pred %out;
    .shared .align 4 .b8 tile[1024];
    ld.param.u64 %at, [data];
    ld.param.f32 %by, [by];
    ld.param.u32 %count, [count];
    cvta.to.global.u64 %at, %at;
    mov.u32 %thread, %tid.x;
    setp.ge.u32 %out, %thread, %count;
    @%out bra DONE;
    mad.wide.u32 %at, %thread, 4, %at;
    ld.global.f32 %value, [%at];
    mul.f32 %value, %value, %by;
    st.global.f32 [%at], %value;
DONE:
    ret;
}

.visible .entry nothing()
{
    ret;
}
\0"""

Attribute = cu.CUfunction_attribute

device = begin()
module = ok(cu.cuModuleLoadData(PTX))
print("kernels:", ok(cu.cuModuleGetFunctionCount(module)))
scale = ok(cu.cuModuleGetFunction(module, b"scale"))
nothing = ok(cu.cuModuleGetFunction(module, b"nothing"))
print("name:", ok(cu.cuFuncGetName(scale)).decode())
print("no such kernel:", failure(cu.cuModuleGetFunction(module, b"none")))
print("no PTX:", failure(cu.cuModuleLoadData(b"no PTX at all\0")))
index = 0
while True:
    code, offset, size = cu.cuFuncGetParamInfo(scale, index)
    if code != cu.CUresult.CUDA_SUCCESS:
        break
    print(f"parameter {index}: {size} bytes at {offset}")
    index += 1
for name in ("MAX_THREADS_PER_BLOCK", "SHARED_SIZE_BYTES", "PTX_VERSION"):
    code = getattr(Attribute, f"CU_FUNC_ATTRIBUTE_{name}")
    print(f"{name}:", ok(cu.cuFuncGetAttribute(code, scale)))
dynamic = Attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
ok(cu.cuFuncSetAttribute(scale, dynamic, 50 * 1024))
print("dynamic shared memory:", ok(cu.cuFuncGetAttribute(dynamic, scale)))
blocks = ok(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(scale, 256, 0))
print("blocks that fit a multiprocessor:", blocks)

# Global variables are memory.
table, size = ok(cu.cuModuleGetGlobal(module, b"table"))
contents = np.arange(size, dtype=np.uint8)
back = np.zeros_like(contents)
ok(cu.cuMemcpyHtoD(table, contents, size))
ok(cu.cuMemcpyDtoH(back, table, size))
print("table:", size, "bytes,", np.array_equal(back, contents))
factor, size = ok(cu.cuModuleGetGlobal(module, b"factor"))
value = np.zeros(1, dtype=np.float32)
ok(cu.cuMemcpyDtoH(value, factor, size))
print("factor:", value[0])

# Launches, in each of the three ways, and with arguments packed by hand.
COUNT = 2**20
data = ok(cu.cuMemAlloc(COUNT * 4))
types = (ctypes.c_uint64, ctypes.c_float, ctypes.c_uint64 * 3, ctypes.c_uint32)


class Arguments(ctypes.Structure):
    """The parameters of scale, one after the other."""

    _fields_ = tuple(zip(("data", "by", "shape", "count"), types, strict=True))


packed = Arguments(int(data), 2.0, (ctypes.c_uint64 * 3)(1, 2, 3), COUNT)
pointers = (ctypes.c_void_p * 4)(
    *(ctypes.addressof(packed) + getattr(Arguments, name).offset for name, _ in Arguments._fields_)
)
stream = ok(cu.cuStreamCreate(0))
ok(cu.cuLaunchKernel(scale, 40, 1, 1, 256, 1, 1, 0, stream, ctypes.addressof(pointers), 0))
shape = cu.CUlaunchConfig()
shape.gridDimX, shape.gridDimY, shape.gridDimZ = 40, 1, 1
shape.blockDimX, shape.blockDimY, shape.blockDimZ = 256, 1, 1
shape.hStream = stream
ok(cu.cuLaunchKernelEx(shape, scale, ctypes.addressof(pointers), 0))
ok(cu.cuLaunchCooperativeKernel(scale, 8, 1, 1, 256, 1, 1, 0, stream, ctypes.addressof(pointers)))
packed_size = ctypes.c_size_t(ctypes.sizeof(packed))
extra = (ctypes.c_void_p * 5)(
    1,  # CU_LAUNCH_PARAM_BUFFER_POINTER
    ctypes.addressof(packed),
    2,  # CU_LAUNCH_PARAM_BUFFER_SIZE
    ctypes.addressof(packed_size),
    0,
)
ok(cu.cuLaunchKernel(scale, 40, 1, 1, 256, 1, 1, 0, stream, 0, ctypes.addressof(extra)))
ok(cu.cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, stream, 0, 0))
ok(cu.cuStreamSynchronize(stream))
print("launched")
too_wide = cu.cuLaunchKernel(scale, 1, 1, 1, 2048, 1, 1, 0, stream, ctypes.addressof(pointers), 0)
print("too many threads:", failure(too_wide))
ok(cu.cuModuleUnload(module))

# The same as a library, whose kernels belong to no context.
library = ok(cu.cuLibraryLoadData(PTX, None, None, 0, None, None, 0))
kernel = ok(cu.cuLibraryGetKernel(library, b"scale"))
print("kernels of the library:", ok(cu.cuLibraryGetKernelCount(library)))
print("name:", ok(cu.cuKernelGetName(kernel)).decode())
print("parameter 2:", ok(cu.cuKernelGetParamInfo(kernel, 2)))
limit = Attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
print("MAX_THREADS_PER_BLOCK:", ok(cu.cuKernelGetAttribute(limit, kernel, device)))
table, size = ok(cu.cuLibraryGetGlobal(library, b"table"))
print("table:", size)
ok(cu.cuLaunchKernelEx(shape, kernel, ctypes.addressof(pointers), 0))
function = ok(cu.cuKernelGetFunction(kernel))
ok(cu.cuLaunchKernel(function, 40, 1, 1, 256, 1, 1, 0, stream, ctypes.addressof(pointers), 0))
ok(cu.cuStreamSynchronize(stream))
ok(cu.cuLibraryUnload(library))

# And through the linker.
link = ok(cu.cuLinkCreate(0, None, None))
kind = cu.CUjitInputType.CU_JIT_INPUT_PTX
ok(cu.cuLinkAddData(link, kind, PTX, len(PTX), b"own.ptx", 0, None, None))
image, size = ok(cu.cuLinkComplete(link))
linked = ok(cu.cuModuleLoadData(image))
scale = ok(cu.cuModuleGetFunction(linked, b"scale"))
print("linked:", size > 0, ok(cu.cuFuncGetParamInfo(scale, 3)))
ok(cu.cuLinkDestroy(link))
ok(cu.cuModuleUnload(linked))
ok(cu.cuMemFree(data))
