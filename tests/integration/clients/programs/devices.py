"""The devices: their names, attributes, identities."""

from checked import failure, ok
from cuda.bindings import driver as cu

# The driver also counts kinds of attribute that no device has, and values that depend on the
# machine the program runs on.
ATTRIBUTES = [
    "MAX_THREADS_PER_BLOCK",
    "MAX_BLOCK_DIM_X",
    "MAX_BLOCK_DIM_Z",
    "MAX_GRID_DIM_X",
    "MAX_GRID_DIM_Y",
    "MAX_SHARED_MEMORY_PER_BLOCK",
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
    "TOTAL_CONSTANT_MEMORY",
    "WARP_SIZE",
    "MAX_REGISTERS_PER_BLOCK",
    "CLOCK_RATE",
    "MULTIPROCESSOR_COUNT",
    "MAX_THREADS_PER_MULTIPROCESSOR",
    "MAX_BLOCKS_PER_MULTIPROCESSOR",
    "INTEGRATED",
    "CAN_MAP_HOST_MEMORY",
    "COMPUTE_MODE",
    "CONCURRENT_KERNELS",
    "PCI_BUS_ID",
    "PCI_DEVICE_ID",
    "MEMORY_CLOCK_RATE",
    "GLOBAL_MEMORY_BUS_WIDTH",
    "L2_CACHE_SIZE",
    "ASYNC_ENGINE_COUNT",
    "UNIFIED_ADDRESSING",
    "COMPUTE_CAPABILITY_MAJOR",
    "COMPUTE_CAPABILITY_MINOR",
    "STREAM_PRIORITIES_SUPPORTED",
    "MANAGED_MEMORY",
    "CONCURRENT_MANAGED_ACCESS",
    "PAGEABLE_MEMORY_ACCESS",
    "COOPERATIVE_LAUNCH",
    "HOST_REGISTER_SUPPORTED",
    "VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED",
    "MEMORY_POOLS_SUPPORTED",
]

print("before cuInit:", failure(cu.cuDeviceGetCount()))
ok(cu.cuInit(0))
print("driver is at least 12.0:", ok(cu.cuDriverGetVersion()) >= 12000)

count = ok(cu.cuDeviceGetCount())
print("devices:", count)
uuids = set()
for ordinal in range(count):
    device = ok(cu.cuDeviceGet(ordinal))
    name = ok(cu.cuDeviceGetName(64, device)).partition(b"\0")[0].decode()
    print(f"\ndevice {int(device)}: {name}")
    uuids.add(ok(cu.cuDeviceGetUuid(device)).bytes)
    address = ok(cu.cuDeviceGetPCIBusId(32, device)).partition(b"\0")[0]
    print("PCI:", address.decode())
    assert int(ok(cu.cuDeviceGetByPCIBusId(address))) == ordinal
    assert ok(cu.cuDeviceTotalMem(device)) % 2**20 == 0
    for attribute in ATTRIBUTES:
        code = getattr(cu.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{attribute}")
        print(f"  {attribute}: {ok(cu.cuDeviceGetAttribute(code, device))}")
    failed = [
        code.name
        for code in cu.CUdevice_attribute
        if code.name != "CU_DEVICE_ATTRIBUTE_MAX"
        and cu.cuDeviceGetAttribute(code, device)[0] != cu.CUresult.CUDA_SUCCESS
    ]
    print("attributes without an answer:", failed)

print("\ndifferent UUIDs:", len(uuids))
print("one device too many:", failure(cu.cuDeviceGet(count)))
print("device can reach its neighbour:", ok(cu.cuDeviceCanAccessPeer(0, 1)))
