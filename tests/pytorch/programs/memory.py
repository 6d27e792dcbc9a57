"""The allocator's numbers, running out of memory, and going on. The same with every allocator."""

import gc

import torch

MIB, GIB = 1 << 20, 1 << 30


def allocate(size: int) -> torch.Tensor:
    return torch.empty(size, dtype=torch.uint8, device="cuda")


torch.cuda.init()
print("allocated", torch.cuda.memory_allocated(), "reserved", torch.cuda.memory_reserved())
free, total = torch.cuda.mem_get_info()
# All allocators take whole steps: of 2 MiB, or of 20 in expandable segments.
x = allocate(520 * MIB)
print("allocated MiB", torch.cuda.memory_allocated() // MIB)
print("reserved MiB", torch.cuda.memory_reserved() // MIB)
print("less free MiB", (free - torch.cuda.mem_get_info()[0]) // MIB, "total", total)
del x
# Stream-ordered memory is given back when the stream gets there.
torch.cuda.synchronize()
print("left", torch.cuda.memory_allocated(), "peak", torch.cuda.max_memory_allocated() // MIB)
torch.cuda.empty_cache()
print("given back", torch.cuda.mem_get_info()[0] == free)

try:
    allocate(40 * GIB)
except torch.OutOfMemoryError as error:
    print("too much:", "40.00 GiB" in str(error), "14.56 GiB" in str(error))
held = []
try:
    while True:
        held.append(allocate(GIB))
except torch.OutOfMemoryError:
    # Memory that moves explicitly leaves some room for the contexts of others.
    print("GiB until it is full:", "13 or 14" if len(held) in (13, 14) else len(held))
full = len(held)
held.pop()
gc.collect()
held.append(allocate(GIB))
print("one back, one more:", len(held) == full)
held.clear()
torch.cuda.empty_cache()
data = torch.arange(1 << 20)
print("goes on", torch.equal(data.cuda().cpu(), data))
torch.cuda.synchronize()
print("and has", torch.cuda.memory_allocated())

# Grows in the middle of a capture.
given = torch.zeros(1 << 20, device="cuda")
result = torch.zeros(1 << 20, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    large = [torch.empty(64 * MIB, device="cuda"), given * 2]
    result.copy_(given)
given.copy_(torch.ones(1 << 20))
graph.replay()
print("captured", torch.equal(result.cpu(), torch.ones(1 << 20)), len(large))
