"""Work recorded from a stream or built node by node, launched again and again, and updated."""

from typing import Any

import numpy as np
from checked import begin, failure, ok
from cuda.bindings import driver as cu
from named import Kernels, number

begin()
kernels = Kernels()
COUNT = 1000
x, y = (ok(cu.cuMemAlloc(COUNT * 4)) for _ in range(2))
out = ok(cu.cuMemAlloc(8))
stream = ok(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING))
other = ok(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING))
fork, join = ok(cu.cuEventCreate(2)), ok(cu.cuEventCreate(2))
THREAD_LOCAL = cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL


def record(value: int) -> Any:
    """Capture a set, a fork into two streams with a fill each, and sums of both."""
    ok(cu.cuStreamBeginCapture(stream, THREAD_LOCAL))
    ok(cu.cuMemsetD8Async(out, 0, 8, stream))
    ok(cu.cuEventRecord(fork, stream))
    ok(cu.cuStreamWaitEvent(other, fork, 0))
    kernels.launch("fill_u32", x, value, COUNT, stream=stream)
    kernels.launch("fill_u32", y, 1, COUNT, stream=other)
    ok(cu.cuEventRecord(join, other))
    ok(cu.cuStreamWaitEvent(stream, join, 0))
    kernels.launch("sum_u32", x, out, COUNT, stream=stream)
    kernels.launch("sum_u32", y, out, COUNT, stream=stream)
    return ok(cu.cuStreamEndCapture(stream))


def run(executable: Any, times: int = 1) -> int:
    for _ in range(times):
        ok(cu.cuGraphLaunch(executable, stream))
    ok(cu.cuStreamSynchronize(stream))
    return number(out)


ok(cu.cuMemsetD8(out, 0xFF, 8))
print("before:", ok(cu.cuStreamIsCapturing(stream)).name)
graph = record(5)
print("nothing ran while recording:", number(out) == 2**64 - 1)
nodes, count = ok(cu.cuGraphGetNodes(graph, 16))
kinds = [ok(cu.cuGraphNodeGetType(node)).name for node in nodes[:count]]
print("nodes:", count, sorted(kinds))
print("edges:", ok(cu.cuGraphGetEdges(graph, 32))[-1])
print("roots:", ok(cu.cuGraphGetRootNodes(graph, 16))[-1])
executable = ok(cu.cuGraphInstantiate(graph, 0))
print("first launch:", run(executable))
print("ten launches:", run(executable, 10))

# Another recording of the same shape takes the place of the first.
changed = record(6)
result = ok(cu.cuGraphExecUpdate(executable, changed))
print("update:", result.result.name)
print("after the update:", run(executable))
ok(cu.cuGraphDestroy(changed))

# A graph of another shape does not fit.
ok(cu.cuStreamBeginCapture(stream, THREAD_LOCAL))
kernels.launch("fill_u32", x, 1, COUNT, stream=stream)
small = ok(cu.cuStreamEndCapture(stream))
code, result = cu.cuGraphExecUpdate(executable, small)
print("update with another shape:", code.name)
print("still the old one:", run(executable))
ok(cu.cuGraphDestroy(small))

# A call that cannot be recorded invalidates the recording.
ok(cu.cuStreamBeginCapture(stream, cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
kernels.launch("fill_u32", x, 1, COUNT, stream=stream)
print("synchronising while recording:", failure(cu.cuStreamSynchronize(stream)))
print("the recording is:", failure(cu.cuStreamEndCapture(stream)))
print("and the stream is usable:", failure(cu.cuStreamSynchronize(stream)))

# Node by node: a copy in, a fill of the rest, a sum, a copy out.
numbers = np.arange(COUNT, dtype=np.uint32)
result = np.zeros(1, dtype=np.uint64)
context = ok(cu.cuCtxGetCurrent())
built = ok(cu.cuGraphCreate(0))


def copy(target: Any, source: Any, size: int, to_host: bool) -> "cu.CUDA_MEMCPY3D":
    host, device = (
        cu.CUmemorytype.CU_MEMORYTYPE_HOST,
        cu.CUmemorytype.CU_MEMORYTYPE_DEVICE,
    )
    box = cu.CUDA_MEMCPY3D()
    box.WidthInBytes, box.Height, box.Depth = size, 1, 1
    box.srcMemoryType, box.dstMemoryType = (device, host) if to_host else (host, device)
    if to_host:
        box.srcDevice, box.dstHost = source, target
    else:
        box.srcHost, box.dstDevice = source, target
    return box


def clear(value: int) -> "cu.CUDA_MEMSET_NODE_PARAMS":
    fill = cu.CUDA_MEMSET_NODE_PARAMS()
    fill.dst, fill.value, fill.elementSize, fill.width, fill.height = out, value, 4, 1, 1
    return fill


ok(cu.cuMemsetD8(out, 0, 8))
into = ok(
    cu.cuGraphAddMemcpyNode(
        built, None, 0, copy(x, numbers.ctypes.data, numbers.nbytes, to_host=False), context
    )
)
cleared = ok(cu.cuGraphAddMemsetNode(built, None, 0, clear(0), context))
launch = cu.CUDA_KERNEL_NODE_PARAMS()
launch.func = kernels.function("sum_u32")
launch.gridDimX, launch.gridDimY, launch.gridDimZ = 32, 1, 1
launch.blockDimX, launch.blockDimY, launch.blockDimZ = 256, 1, 1
launch.kernelParams = kernels.arguments("sum_u32", x, out, COUNT)
summed = ok(cu.cuGraphAddKernelNode(built, [into, cleared], 2, launch))
back = copy(result.ctypes.data, out, 8, to_host=True)
fetched = ok(cu.cuGraphAddMemcpyNode(built, [summed], 1, back, context))
last = ok(cu.cuGraphAddEmptyNode(built, [fetched], 1))
second = ok(cu.cuGraphInstantiate(built, 0))
ok(cu.cuGraphLaunch(second, stream))
ok(cu.cuStreamSynchronize(stream))
print("built by hand:", result[0], result[0] == numbers.sum())

# Single nodes of the executable graph are changed in place.
launch.kernelParams = kernels.arguments("sum_u32", x, out, 10)
ok(cu.cuGraphExecKernelNodeSetParams(second, summed, launch))
ok(cu.cuGraphExecMemsetNodeSetParams(second, cleared, clear(1000), context))
ok(cu.cuGraphLaunch(second, stream))
ok(cu.cuStreamSynchronize(stream))
print("with other parameters:", result[0])

# A clone is a graph of its own, and a graph can be a node.
clone = ok(cu.cuGraphClone(built))
ok(cu.cuGraphDestroy(built))
outer = ok(cu.cuGraphCreate(0))
ok(cu.cuGraphAddChildGraphNode(outer, None, 0, clone))
third = ok(cu.cuGraphInstantiate(outer, 0))
ok(cu.cuGraphLaunch(third, stream))
ok(cu.cuStreamSynchronize(stream))
print("as a child of another:", result[0])

for each in (executable, second, third):
    ok(cu.cuGraphExecDestroy(each))
for each in (graph, clone, outer):
    ok(cu.cuGraphDestroy(each))
