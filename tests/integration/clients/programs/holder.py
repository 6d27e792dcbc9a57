"""Holds as many MiB on a GPU as it is told, and has written to them, until its input ends."""

import sys

from checked import begin, ok
from cuda.bindings import driver as cu

begin(int(sys.argv[1]))
size = int(sys.argv[2]) * 2**20
memory = ok(cu.cuMemAlloc(size))
ok(cu.cuMemsetD8(memory, 1, size))
ok(cu.cuCtxSynchronize())
print("ready", flush=True)
sys.stdin.read()
ok(cu.cuMemFree(memory))
