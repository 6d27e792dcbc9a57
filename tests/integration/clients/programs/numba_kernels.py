"""numba-cuda: kernels compiled from Python are launched, in order, and timed.

Nothing here checks their results: on an emulated GPU they take time and have no effect.
"""

import warnings

import numpy as np
from numba import cuda, float32
from numba.cuda.core.errors import NumbaPerformanceWarning


@cuda.jit
def add(x, y, out):
    """Add two vectors."""
    start, step = cuda.grid(1), cuda.gridsize(1)
    for i in range(start, x.size, step):
        out[i] = x[i] + y[i]


@cuda.jit("void(float32[:], float32)")
def scale(x, factor):
    """Multiply a vector, through shared memory."""
    tile = cuda.shared.array(128, dtype=float32)
    i = cuda.grid(1)
    if i < x.size:
        tile[cuda.threadIdx.x] = x[i]
        cuda.syncthreads()
        x[i] = tile[cuda.threadIdx.x] * factor


# Numba's warnings about such small launches do not matter here.
warnings.simplefilter("ignore", NumbaPerformanceWarning)
COUNT = 2**20
x = cuda.to_device(np.ones(COUNT, dtype=np.float32))
y = cuda.to_device(np.ones(COUNT, dtype=np.float32))
out = cuda.device_array(COUNT, dtype=np.float32)
add[40, 128](x, y, out)
cuda.synchronize()
print("launched:", len(add.overloads), "version of add")
add[40, 128](x, y, out)
cuda.synchronize()
print("compiled no second time:", len(add.overloads))
scale[COUNT // 128, 128](x, 2.0)
cuda.synchronize()
[compiled] = scale.overloads.values()
print("shared memory:", compiled.shared_mem_per_block)
print("threads in a block:", compiled.max_threads_per_block > 0)
print("arguments in host memory:", end=" ")
add[40, 128](np.ones(64, dtype=np.float32), np.ones(64, dtype=np.float32), out)
cuda.synchronize()
print("accepted")

# Streams and events.
first, second = cuda.stream(), cuda.stream()
begin, end = cuda.event(), cuda.event()
begin.record(first)
for _ in range(100):
    add[40, 128, first](x, y, out)
end.record(first)
end.wait(second)
scale[COUNT // 128, 128, second](y, 0.5)
second.synchronize()
print("the first stream was waited for:", end.query())
# Three arrays of 4 MiB, over memory that is not infinitely fast.
print("took time:", begin.elapsed_time(end) > 1)

with cuda.defer_cleanup():
    temporary = cuda.device_array(1000)
    del temporary
blocks = cuda.current_context().get_active_blocks_per_multiprocessor(
    next(iter(scale.overloads.values()))._codelibrary.get_cufunc(), 128, 0
)
print("blocks that fit a multiprocessor:", blocks)
cuda.close()
