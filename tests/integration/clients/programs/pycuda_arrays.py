"""PyCUDA, without a compiler: memory, arrays, streams, events, and a module from PTX."""

from importlib.resources import files

import numpy as np
import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.tools import DeviceMemoryPool, PageLockedMemoryPool

cuda.init()
print("devices:", cuda.Device.count())
device = cuda.Device(0)
print("name:", device.name())
print("PCI:", device.pci_bus_id())
print("compute capability:", device.compute_capability())
attribute = cuda.device_attribute
print("multiprocessors:", device.get_attribute(attribute.MULTIPROCESSOR_COUNT))
print("warp:", device.get_attribute(attribute.WARP_SIZE))
print("all attributes answer:", len(device.get_attributes()) > 50)
context = device.make_context()

free, total = cuda.mem_get_info()
memory = cuda.mem_alloc(16 * 2**20)
print("taken:", (free - cuda.mem_get_info()[0]) // 2**20, "MiB")
print("totals agree:", total == device.total_memory())
memory.free()
print("given back:", cuda.mem_get_info()[0] == free)

random = np.random.default_rng(10)
numbers = random.random((123, 45), dtype=np.float32)


def report(what: str, back: np.ndarray, expected: np.ndarray) -> None:
    print(f"{what}:", "equal" if np.array_equal(back, expected) else "DIFFERENT")


# Plain copies.
memory = cuda.to_device(numbers)
report("to_device", cuda.from_device_like(memory, numbers), numbers)
back = np.empty_like(numbers)
cuda.memcpy_dtoh(back, memory)
report("memcpy_dtoh", back, numbers)
cuda.memset_d32(int(memory), 0x3F800000, numbers.size)
cuda.memcpy_dtoh(back, memory)
report("memset_d32", back, np.ones_like(numbers))

# Arrays.
array = gpuarray.to_gpu(numbers)
report("gpuarray", array.get(), numbers)
report("a view of it", array[:10].get(), numbers[:10])
report("a copy of it", array.copy().get(), numbers)
stream = cuda.Stream()
pinned = cuda.pagelocked_empty_like(numbers)
pinned[:] = numbers * 2
back = cuda.pagelocked_empty_like(numbers)
array.set_async(pinned, stream=stream)
array.get_async(stream=stream, ary=back)
stream.synchronize()
report("gpuarray, asynchronous", back, numbers * 2)

# Two dimensions.
pitched, pitch = cuda.mem_alloc_pitch(45 * 4, 123, 4)
copy = cuda.Memcpy2D()
copy.set_src_host(numbers)
copy.set_dst_device(pitched)
copy.src_pitch = copy.width_in_bytes = 45 * 4
copy.dst_pitch = pitch
copy.height = 123
copy(aligned=True)
copy = cuda.Memcpy2D()
copy.set_src_device(pitched)
copy.set_dst_host(back)
copy.src_pitch = pitch
copy.dst_pitch = copy.width_in_bytes = 45 * 4
copy.height = 123
copy(stream)
stream.synchronize()
report("2D", back, numbers)

# Managed memory, and pools that keep what is given back to them.
managed = cuda.managed_zeros(1000, np.float32, mem_flags=cuda.mem_attach_flags.GLOBAL)
managed[:] = 7
context.synchronize()
report("managed", managed, np.full(1000, 7, np.float32))
pool = DeviceMemoryPool()
pooled = gpuarray.to_gpu(numbers, allocator=pool.allocate)
report("from a pool", pooled.get(), numbers)
print("pool:", pool.active_blocks, "in use,", pool.held_blocks, "kept")
del pooled
print("pool:", pool.active_blocks, "in use,", pool.held_blocks, "kept")
pool.free_held()
print("page-locked pool:", PageLockedMemoryPool().allocate((5,), np.int32).shape)

# Kernels from PTX; these have real results.
module = cuda.module_from_buffer((files("nvshare.lab.emulator") / "kernels.ptx").read_bytes())
fill = module.get_function("nvshare_fill_f32")
print("threads in a block:", fill.max_threads_per_block, "shared memory:", fill.shared_size_bytes)
begin, end = cuda.Event(), cuda.Event()
begin.record(stream)
fill(array, np.float32(2.5), np.uint64(array.size), grid=(32, 1), block=(256, 1, 1), stream=stream)
spin = module.get_function("nvshare_spin").prepare("Q")
spin.prepared_async_call((1, 1), (1, 1, 1), stream, 100_000)
end.record(stream)
end.synchronize()
print("took its 100 ms:", end.time_since(begin) > 99, end.query())
report("filled by a kernel", array.get(), np.full_like(numbers, 2.5))
address, size = module.get_global("nvshare_named_kernels")
print("a global variable:", size, int(cuda.from_device(address, (1,), np.uint32)[0]))

# Out of memory is an exception, and not the end.
try:
    cuda.mem_alloc(2 * total)
except cuda.MemoryError as error:
    print("too much:", str(error).startswith("cuMemAlloc failed"))
report("still there", array.get(), np.full_like(numbers, 2.5))
context.pop()
