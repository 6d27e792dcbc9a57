"""Contexts of a program's own, and the stack that every thread has."""

import threading

from checked import failure, ok
from cuda.bindings import driver as cu

ok(cu.cuInit(0))
device = ok(cu.cuDeviceGet(0))
names = {0: "none"}


def current() -> str:
    return names[int(ok(cu.cuCtxGetCurrent()))]


print("at first:", current())
print("without a context:", failure(cu.cuMemAlloc(1024)))
print("primary:", ok(cu.cuDevicePrimaryCtxGetState(device)))
primary = ok(cu.cuDevicePrimaryCtxRetain(device))
names[int(primary)] = "primary"
print("the same again:", int(ok(cu.cuDevicePrimaryCtxRetain(device))) == int(primary))
print("primary:", ok(cu.cuDevicePrimaryCtxGetState(device)))
print("retained, not current:", current())

made = []
for name in ("first", "second"):
    context = ok(cu.cuCtxCreate(None, 0, device))
    names[int(context)] = name
    made.append(context)
    print("created:", current())
ok(cu.cuCtxPushCurrent(primary))
print("pushed:", current())
while current() != "none":
    gone = ok(cu.cuCtxPopCurrent())
    print("popped", names[int(gone)], "and below it is", current())
print("popped from nothing:", failure(cu.cuCtxPopCurrent()))

ok(cu.cuCtxSetCurrent(made[0]))
print("device of the first:", int(ok(cu.cuCtxGetDevice())))
print("version is at least 3020:", ok(cu.cuCtxGetApiVersion(made[0])) >= 3020)
limit = cu.CUlimit.CU_LIMIT_STACK_SIZE
ok(cu.cuCtxSetLimit(limit, 4096))
print("stack limit:", ok(cu.cuCtxGetLimit(limit)))
ok(cu.cuCtxSetCacheConfig(cu.CUfunc_cache.CU_FUNC_CACHE_PREFER_L1))
print("cache:", ok(cu.cuCtxGetCacheConfig()).name)

# Memory of one context is visible in the other, but belongs to the first.
memory = ok(cu.cuMemAlloc(1024))
ok(cu.cuCtxSetCurrent(made[1]))
ok(cu.cuMemsetD8(memory, 1, 1024))
kind = cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_CONTEXT
print("memory belongs to:", names[int(ok(cu.cuPointerGetAttribute(kind, memory)))])


def elsewhere() -> None:
    print("in another thread:", current())
    ok(cu.cuCtxSetCurrent(made[0]))
    print("set there:", current())


thread = threading.Thread(target=elsewhere)
thread.start()
thread.join()
print("here still:", current())

ok(cu.cuCtxDestroy(made[0]))
ok(cu.cuCtxDestroy(made[1]))
print("after destroying the current one:", current())
print("memory went with its context:", failure(cu.cuPointerGetAttribute(kind, memory)))
ok(cu.cuDevicePrimaryCtxRelease(device))
print("retained once less:", ok(cu.cuDevicePrimaryCtxGetState(device)))
ok(cu.cuDevicePrimaryCtxRelease(device))
print("released:", ok(cu.cuDevicePrimaryCtxGetState(device)))
print("released too often:", failure(cu.cuDevicePrimaryCtxRelease(device)))
