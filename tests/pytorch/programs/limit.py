"""Allocates as it is told on standard input, and says how it went."""

import sys

import torch

MIB = 1 << 20
held = []
torch.zeros(1).cuda()
torch.cuda.empty_cache()
print("ready", flush=True)
for line in sys.stdin:
    try:
        held.append(torch.empty(int(line) * MIB, dtype=torch.uint8, device="cuda"))
        print("allocated", torch.cuda.memory_allocated() // MIB, flush=True)
    except torch.OutOfMemoryError as error:
        print(str(error).replace("\n", " "), flush=True)
    free, total = torch.cuda.mem_get_info()
    print("free", free // MIB, "of", total // MIB, flush=True)
