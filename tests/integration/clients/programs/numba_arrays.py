"""numba-cuda: arrays go to the GPU and back, in all the kinds of memory that numba knows."""

import numpy as np
from numba import cuda

print("available:", cuda.is_available())
print("GPUs:", len(cuda.gpus))
device = cuda.get_current_device()
print("name:", device.name.decode() if isinstance(device.name, bytes) else device.name)
print("compute capability:", device.compute_capability)
for attribute in (
    "MULTIPROCESSOR_COUNT",
    "WARP_SIZE",
    "MAX_THREADS_PER_BLOCK",
    "MAX_SHARED_MEMORY_PER_BLOCK",
    "MAX_GRID_DIM_X",
    "UNIFIED_ADDRESSING",
):
    print(f"{attribute}:", getattr(device, attribute))

source = np.random.default_rng(8).random((300, 700), dtype=np.float32)


def report(what: str, back: np.ndarray, expected: np.ndarray) -> None:
    print(f"{what}:", "equal" if np.array_equal(back, expected) else "DIFFERENT")


there = cuda.to_device(source)
report("round trip", there.copy_to_host(), source)
report("a slice", there[10:20].copy_to_host(), source[10:20])
report("reshaped", there.reshape(700, 300).copy_to_host(), source.reshape(700, 300))

empty = cuda.device_array_like(source)
empty.copy_to_device(there)
report("from one array to another", empty.copy_to_host(), source)

# Asynchronous, from pinned memory.
stream = cuda.stream()
pinned = cuda.pinned_array(source.shape, dtype=source.dtype)
pinned[:] = source * 2
back = cuda.pinned_array(source.shape, dtype=source.dtype)
on_stream = cuda.to_device(pinned, stream=stream)
on_stream.copy_to_host(back, stream=stream)
stream.synchronize()
report("pinned, on a stream", back, source * 2)
ordinary = source * 3
with cuda.pinned(ordinary):
    on_stream.copy_to_device(ordinary, stream=stream)
    stream.synchronize()
report("pinned for a while", on_stream.copy_to_host(), source * 3)

# Memory that both sides see.
mapped = cuda.mapped_array(1000, dtype=np.int64)
mapped[:] = np.arange(1000)
report("mapped", mapped, np.arange(1000))
managed = cuda.managed_array(1000, dtype=np.int64)
managed[:] = np.arange(1000)[::-1]
cuda.current_context().synchronize()
report("managed", managed, np.arange(1000)[::-1])
report("managed, read as device memory", cuda.as_cuda_array(managed).copy_to_host(), managed)

# Memory given back is memory free again.
context = cuda.current_context()
given_back = context.memory_manager.deallocations
del there, empty, on_stream
given_back.clear()
free = context.get_memory_info().free
large = cuda.device_array(32 * 2**20, dtype=np.uint8)
print("taken:", (free - context.get_memory_info().free) // 2**20, "MiB")
del large
given_back.clear()
print("given back:", context.get_memory_info().free == free)

# The other GPU.
with cuda.gpus[1]:
    print("on GPU", cuda.get_current_device().id)
    report("round trip there", cuda.to_device(source).copy_to_host(), source)
print("on GPU", cuda.get_current_device().id)
cuda.close()
