"""Two GPUs: memory goes from one to the other, and they look into each other's."""

import numpy as np
from checked import failure, ok
from cuda.bindings import driver as cu
from named import Kernels, number

ok(cu.cuInit(0))
devices = [ok(cu.cuDeviceGet(index)) for index in range(2)]
contexts = [ok(cu.cuDevicePrimaryCtxRetain(device)) for device in devices]
SIZE = 3 * 2**20
source = np.random.default_rng(7).integers(0, 256, SIZE, dtype=np.uint8)

memories, kernels = [], []
for context in contexts:
    ok(cu.cuCtxSetCurrent(context))
    memories.append(ok(cu.cuMemAlloc(SIZE)))
    kernels.append(Kernels())


def ordinal(address: "cu.CUdeviceptr") -> int:
    kind = cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    return int(ok(cu.cuPointerGetAttribute(kind, address)))


print("memory is on:", [ordinal(memory) for memory in memories])

# Copies need no permission.
ok(cu.cuCtxSetCurrent(contexts[0]))
ok(cu.cuMemcpyHtoD(memories[0], source, SIZE))
ok(cu.cuMemcpyPeer(memories[1], contexts[1], memories[0], contexts[0], SIZE))
back = np.zeros_like(source)
ok(cu.cuCtxSetCurrent(contexts[1]))
ok(cu.cuMemcpyDtoH(back, memories[1], SIZE))
print("peer copy:", np.array_equal(back, source))
stream = ok(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING))
ok(cu.cuMemsetD8Async(memories[1], 0xEE, 1000, stream))
ok(cu.cuMemcpyPeerAsync(memories[0], contexts[0], memories[1], contexts[1], 2000, stream))
ok(cu.cuStreamSynchronize(stream))
ok(cu.cuMemcpyDtoH(back, memories[0], SIZE))
source[:1000] = 0xEE
print("and back, asynchronous:", np.array_equal(back, source))

# Direct access has to be switched on, in each direction.
reach = [ok(cu.cuDeviceCanAccessPeer(devices[i], devices[1 - i])) for i in range(2)]
print("possible:", reach)
ok(cu.cuCtxEnablePeerAccess(contexts[0], 0))
print("twice:", failure(cu.cuCtxEnablePeerAccess(contexts[0], 0)))
out = ok(cu.cuMemAlloc(8))
ok(cu.cuMemsetD8(out, 0, 8))
kernels[1].launch("sum_u32", memories[0], out, SIZE // 4)
expected = int(back.view(np.uint32).sum(dtype=np.uint64))
print("a kernel on one GPU reads the other's memory:", number(out) == expected)
ok(cu.cuCtxDisablePeerAccess(contexts[0]))
print("never enabled:", failure(cu.cuCtxDisablePeerAccess(contexts[0])))

for context, memory in zip(contexts, memories, strict=True):
    ok(cu.cuCtxSetCurrent(context))
    ok(cu.cuMemFree(memory))
for device in devices:
    ok(cu.cuDevicePrimaryCtxRelease(device))
