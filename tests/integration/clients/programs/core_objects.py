"""cuda.core: devices, streams, events, buffers of all kinds, graphs, and code from PTX."""

from importlib.resources import files

import numpy as np
from cuda.core import (
    Device,
    DeviceMemoryResource,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ObjectCode,
    StreamOptions,
    launch,
    system,
)

print("devices:", system.get_num_devices())
device = Device(0)
device.set_current()
print("name:", device.name)
print("compute capability:", tuple(device.compute_capability))
print("multiprocessors:", device.properties.multiprocessor_count)
print("concurrent managed access:", device.properties.concurrent_managed_access)
stream = device.create_stream(options=StreamOptions(nonblocking=True, priority=-1))
print("stream:", stream.is_nonblocking, stream.priority)

SIZE = 2**20
numbers = np.random.default_rng(9).integers(0, 2**32, SIZE // 4, dtype=np.uint32)


def bytes_of(buffer: object) -> np.ndarray:
    """Look at a buffer that the host can reach."""
    return np.from_dlpack(buffer).view(np.uint8)


pinned = LegacyPinnedMemoryResource()
there = pinned.allocate(SIZE)
bytes_of(there)[:] = numbers.view(np.uint8)
for resource in (device.memory_resource, DeviceMemoryResource(device)):
    buffer = resource.allocate(SIZE, stream=stream)
    back = pinned.allocate(SIZE)
    buffer.copy_from(there, stream=stream)
    buffer.copy_to(back, stream=stream)
    stream.sync()
    kind = type(resource).__name__
    print(f"{kind}:", np.array_equal(bytes_of(back), numbers.view(np.uint8)), end=" ")
    print("device" * buffer.is_device_accessible, "host" * buffer.is_host_accessible)
    buffer.close(stream)

# Kernels with real results.
code = ObjectCode.from_ptx((files("nvshare.lab.emulator") / "kernels.ptx").read_bytes())
fill = code.get_kernel("nvshare_fill_u32")
add = code.get_kernel("nvshare_sum_u32")
print("parameters:", [info.size for info in fill.arguments_info])
print("threads in a block:", fill.attributes.max_threads_per_block > 0)
data = device.allocate(SIZE, stream=stream)
out = pinned.allocate(8)
bytes_of(out)[:] = 0
shape = LaunchConfig(grid=32, block=256)
launch(stream, shape, fill, data, np.uint32(6), np.uint64(SIZE // 4))
launch(stream, shape, add, data, out, np.uint64(SIZE // 4))
stream.sync()
print("sum:", bytes_of(out).view(np.uint64)[0])

# Events.
begin = stream.record(options={"timing_enabled": True})
launch(stream, shape, code.get_kernel("nvshare_spin"), np.uint64(50_000))
end = stream.record(options={"timing_enabled": True})
end.sync()
print("done:", end.is_done, "after its 50 ms:", end - begin > 49)
other = device.create_stream()
other.wait(end)
other.sync()

# A graph.
builder = stream.create_graph_builder().begin_building()
launch(builder, shape, fill, data, np.uint32(1), np.uint64(SIZE // 4))
launch(builder, shape, add, data, out, np.uint64(SIZE // 4))
graph = builder.end_building().complete()
for _ in range(3):
    graph.launch(stream)
stream.sync()
print("sum after three launches of a graph:", bytes_of(out).view(np.uint64)[0])
data.close(stream)
stream.sync()
