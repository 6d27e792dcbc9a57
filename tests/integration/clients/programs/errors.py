"""Every error has a name and an explanation, and wrong arguments cause the right ones."""

import numpy as np
from checked import begin, failure, ok
from cuda.bindings import driver as cu

unnamed = [code.name for code in cu.CUresult if ok(cu.cuGetErrorName(code)) != code.name.encode()]
print("codes with another name:", unnamed)
print("codes without explanation:", [c.name for c in cu.CUresult if not ok(cu.cuGetErrorString(c))])
for code in (0, 1, 2, 100, 201, 600, 700, 801):
    result = cu.CUresult(code)
    name, meaning = ok(cu.cuGetErrorName(result)), ok(cu.cuGetErrorString(result))
    print(code, name.decode(), "-", meaning.decode())

begin()
memory = ok(cu.cuMemAlloc(100))
host = np.zeros(1000, dtype=np.uint8)
print("free of nonsense:", failure(cu.cuMemFree(12345)))
print("free of the middle:", failure(cu.cuMemFree(int(memory) + 8)))
print("copy from nowhere:", failure(cu.cuMemcpyDtoH(host, 4096, 10)))
print("negative device:", failure(cu.cuDeviceGet(-1)))
print("unknown flags of init:", failure(cu.cuInit(77)))
kind = cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
print("attribute of nowhere:", failure(cu.cuPointerGetAttribute(kind, host.ctypes.data)))
print("nothing went wrong after all:", failure(cu.cuCtxSynchronize()))
ok(cu.cuMemFree(memory))
