"""Bytes to the GPU and back, in every shape."""

import ctypes

import numpy as np
from checked import begin, ok
from cuda.bindings import driver as cu

begin()
random = np.random.default_rng(1)
SIZE = 3 * 2**20 + 17
source = random.integers(0, 256, SIZE, dtype=np.uint8)
memory = ok(cu.cuMemAlloc(SIZE))
other = ok(cu.cuMemAlloc(SIZE))
stream = ok(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING))


def pinned(size: int) -> tuple[int, np.ndarray]:
    """Return pinned memory as an address and as an array."""
    address = int(ok(cu.cuMemHostAlloc(size, cu.CU_MEMHOSTALLOC_PORTABLE)))
    return address, np.frombuffer((ctypes.c_uint8 * size).from_address(address), dtype=np.uint8)


def report(what: str, back: np.ndarray, expected: np.ndarray) -> None:
    print(f"{what}:", "equal" if np.array_equal(back, expected) else "DIFFERENT")


# Pageable memory, through both GPU allocations.
back = np.zeros_like(source)
ok(cu.cuMemcpyHtoD(memory, source, SIZE))
ok(cu.cuMemcpyDtoD(other, memory, SIZE))
ok(cu.cuMemcpyDtoH(back, other, SIZE))
report("pageable", back, source)

# A part of it, at odd offsets.
back = np.zeros(1001, dtype=np.uint8)
ok(cu.cuMemcpyDtoH(back, int(other) + 12345, 1001))
report("part", back, source[12345 : 12345 + 1001])

# The generic call finds out by itself which side is which.
back = np.zeros_like(source)
ok(cu.cuMemsetD8(memory, 0, SIZE))
ok(cu.cuMemcpy(memory, source.ctypes.data, SIZE))
ok(cu.cuMemcpy(back.ctypes.data, memory, SIZE))
report("generic", back, source)

# Pinned memory on a stream: the copies are in order without a wait between them.
address, there = pinned(SIZE)
address_back, back = pinned(SIZE)
there[:] = source[::-1]
ok(cu.cuMemcpyHtoDAsync(memory, address, SIZE, stream))
ok(cu.cuMemcpyDtoDAsync(other, memory, SIZE, stream))
ok(cu.cuMemcpyDtoHAsync(address_back, other, SIZE, stream))
ok(cu.cuStreamSynchronize(stream))
report("pinned, asynchronous", back, source[::-1])
ok(cu.cuMemcpyAsync(memory, source.ctypes.data, SIZE, stream))
ok(cu.cuMemcpyAsync(address_back, memory, SIZE, stream))
ok(cu.cuStreamSynchronize(stream))
report("generic, asynchronous", back, source)
flags = ok(cu.cuMemHostGetFlags(address))
print("pinned memory is portable:", bool(flags & cu.CU_MEMHOSTALLOC_PORTABLE))
print("pinned memory has a device address:", int(ok(cu.cuMemHostGetDevicePointer(address, 0))) != 0)
ok(cu.cuMemFreeHost(address))

# Memory of the program's own, pinned afterwards.
pages = np.zeros(SIZE + 8192, dtype=np.uint8)
start = -pages.ctypes.data % 4096
own = pages[start : start + SIZE]
own[:] = source
ok(cu.cuMemHostRegister(own.ctypes.data, SIZE, cu.CU_MEMHOSTREGISTER_PORTABLE))
ok(cu.cuMemsetD8Async(memory, 0, SIZE, stream))
ok(cu.cuMemcpyHtoDAsync(memory, own.ctypes.data, SIZE, stream))
ok(cu.cuMemcpyDtoHAsync(address_back, memory, SIZE, stream))
ok(cu.cuStreamSynchronize(stream))
report("registered", back, source)
ok(cu.cuMemHostUnregister(own.ctypes.data))
ok(cu.cuMemFreeHost(address_back))

# A rectangle into pitched memory, and a smaller one out of the middle of it.
WIDTH, HEIGHT = 1000, 37
image = random.integers(0, 256, (HEIGHT, WIDTH), dtype=np.uint8)
pitched, pitch = ok(cu.cuMemAllocPitch(WIDTH, HEIGHT, 4))
print("pitch fits:", pitch >= WIDTH and pitch % 32 == 0)
copy = cu.CUDA_MEMCPY2D()
copy.srcMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_HOST
copy.srcHost = image.ctypes.data
copy.srcPitch = WIDTH
copy.dstMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
copy.dstDevice = pitched
copy.dstPitch = pitch
copy.WidthInBytes = WIDTH
copy.Height = HEIGHT
ok(cu.cuMemcpy2D(copy))
back = np.zeros((10, 100), dtype=np.uint8)
copy = cu.CUDA_MEMCPY2D()
copy.srcMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
copy.srcDevice = pitched
copy.srcPitch = pitch
copy.srcXInBytes = 50
copy.srcY = 20
copy.dstMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_HOST
copy.dstHost = back.ctypes.data
copy.dstPitch = 100
copy.WidthInBytes = 100
copy.Height = 10
ok(cu.cuMemcpy2DUnaligned(copy))
report("2D", back, image[20:30, 50:150])
ok(cu.cuMemsetD2D8(int(pitched) + 50, pitch, 7, 100, 10))
image[:10, 50:150] = 7
back = np.zeros_like(image)
copy.srcXInBytes = copy.srcY = 0
copy.dstHost = back.ctypes.data
copy.dstPitch = copy.WidthInBytes = WIDTH
copy.Height = HEIGHT
ok(cu.cuMemcpy2DAsync(copy, stream))
ok(cu.cuStreamSynchronize(stream))
report("2D after a 2D set", back, image)

# A box, in and out.
box = random.integers(0, 256, (5, 6, 64), dtype=np.uint8)
copy = cu.CUDA_MEMCPY3D()
copy.srcMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_HOST
copy.srcHost = box.ctypes.data
copy.srcPitch, copy.srcHeight = 64, 6
copy.dstMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
copy.dstDevice = memory
copy.dstPitch, copy.dstHeight = 128, 8
copy.WidthInBytes, copy.Height, copy.Depth = 64, 6, 5
ok(cu.cuMemcpy3D(copy))
back = np.zeros((2, 3, 16), dtype=np.uint8)
copy = cu.CUDA_MEMCPY3D()
copy.srcMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
copy.srcDevice = memory
copy.srcPitch, copy.srcHeight = 128, 8
copy.srcXInBytes, copy.srcY, copy.srcZ = 32, 2, 3
copy.dstMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_HOST
copy.dstHost = back.ctypes.data
copy.dstPitch, copy.dstHeight = 16, 3
copy.WidthInBytes, copy.Height, copy.Depth = 16, 3, 2
ok(cu.cuMemcpy3DAsync(copy, stream))
ok(cu.cuStreamSynchronize(stream))
report("3D", back, box[3:5, 2:5, 32:48])

# An array, whose layout only the GPU knows.
shape = cu.CUDA_ARRAY_DESCRIPTOR()
shape.Width, shape.Height, shape.NumChannels = 128, 4, 1
shape.Format = cu.CUarray_format.CU_AD_FORMAT_FLOAT
array = ok(cu.cuArrayCreate(shape))
texels = random.random((4, 128), dtype=np.float32)
copy = cu.CUDA_MEMCPY2D()
copy.srcMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_HOST
copy.srcHost = texels.ctypes.data
copy.srcPitch = 512
copy.dstMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_ARRAY
copy.dstArray = array
copy.WidthInBytes, copy.Height = 512, 4
ok(cu.cuMemcpy2D(copy))
back = np.zeros_like(texels)
copy = cu.CUDA_MEMCPY2D()
copy.srcMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_ARRAY
copy.srcArray = array
copy.dstMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_HOST
copy.dstHost = back.ctypes.data
copy.dstPitch = 512
copy.WidthInBytes, copy.Height = 512, 4
ok(cu.cuMemcpy2D(copy))
report("array", back, texels)
row = np.zeros(128, dtype=np.float32)
ok(cu.cuMemcpyAtoH(row.ctypes.data, array, 0, 512))
report("first row of the array", row, texels[0])
print("array is", ok(cu.cuArrayGetDescriptor(array)).Width, "wide")
ok(cu.cuArrayDestroy(array))

# Sets of every width.
back = np.zeros(64, dtype=np.uint8)
ok(cu.cuMemsetD8(memory, 0x11, 64))
ok(cu.cuMemsetD16(memory, 0x2233, 8))
ok(cu.cuMemsetD32Async(int(memory) + 32, 0x44556677, 4, stream))
ok(cu.cuStreamSynchronize(stream))
ok(cu.cuMemcpyDtoH(back, memory, 64))
print("sets:", back.tobytes().hex())

base, size = ok(cu.cuMemGetAddressRange(int(other) + 99))
print("range found:", int(base) == int(other), size == SIZE)
for allocation in (memory, other, pitched):
    ok(cu.cuMemFree(allocation))
