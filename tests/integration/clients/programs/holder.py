"""Holds as many MiB on a GPU as it is told, until its input ends."""

import sys

from checked import begin, ok
from cuda.bindings import driver as cu

begin(int(sys.argv[1]))
memory = ok(cu.cuMemAlloc(int(sys.argv[2]) * 2**20))
print("ready", flush=True)
sys.stdin.read()
ok(cu.cuMemFree(memory))
