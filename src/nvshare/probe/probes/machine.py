"""What machine, driver and GPU report, and whether CUDA and NVML mean the same GPU."""

import ctypes
import os
import uuid

from nvshare.lab.emulator.emulated_node import host_bytes
from nvshare.probe import host
from nvshare.probe.bench import Bench
from nvshare.probe.driver import CudaError

# Numbers of CUdevice_attribute, by the name of the reading.
_ATTRIBUTES = {
    "clock_khz": 13,
    "multiprocessors": 16,
    "kernel_time_limit": 17,
    "integrated": 18,
    "memory_clock_khz": 36,
    "memory_bus_bits": 37,
    "l2_bytes": 38,
    "threads_per_multiprocessor": 39,
    "copy_engines": 40,
    "compute_major": 75,
    "compute_minor": 76,
    "shared_per_multiprocessor": 81,
    "managed_memory": 83,
    "pageable_memory_access": 88,
    "concurrent_managed_access": 89,
    "shared_per_block": 97,
    "pageable_uses_host_page_tables": 100,
    "direct_managed_access_from_host": 101,
    "virtual_memory_management": 102,
    "blocks_per_multiprocessor": 106,
    "memory_pools": 115,
}


def probe(bench: Bench) -> None:
    """Read the properties of driver, GPU and machine."""
    _driver(bench)
    _gpu(bench)
    _identity(bench)
    _host(bench)
    _other_programs(bench)


def _driver(bench: Bench) -> None:
    readings = bench.readings
    version = ctypes.c_int()
    bench.driver.call("cuDriverGetVersion", ctypes.byref(version))
    readings.note("machine.cuda", f"{version.value // 1000}.{version.value % 1000 // 10}")
    readings.note("machine.driver", bench.nvml.driver_version())
    flavour = "emulated" if bench.node else host.module_flavour()
    readings.note("machine.module", flavour, "there is no /proc/driver/nvidia/version")
    readings.note("machine.kernel", host.kernel_release())
    readings.note("machine.compute_mode", bench.nvml.compute_mode())
    readings.note("machine.mig", bench.nvml.mig() or False)
    readings.note("machine.mps", str(host.mps_folder() or "none"))


def _gpu(bench: Bench) -> None:
    readings, nvml = bench.readings, bench.nvml
    name = ctypes.create_string_buffer(128)
    bench.driver.call("cuDeviceGetName", name, len(name), bench.device)
    readings.note("machine.name", name.value.decode())
    for reading, number in _ATTRIBUTES.items():
        value = ctypes.c_int()
        try:
            bench.driver.call("cuDeviceGetAttribute", ctypes.byref(value), number, bench.device)
        except CudaError as error:
            readings.miss(f"machine.{reading}", str(error))
        else:
            readings.note(f"machine.{reading}", value.value)
    generation, width = nvml.pcie()
    readings.note("machine.pcie_generation", generation)
    readings.note("machine.pcie_width", width)
    readings.note("machine.cores", nvml.cores())
    watts, limit = nvml.power()
    readings.note("machine.power_w", watts)
    readings.note("machine.power_limit_w", limit)
    readings.note("machine.temperature_c", nvml.temperature())
    readings.note("machine.memory_bytes", nvml.total_bytes())


def _identity(bench: Bench) -> None:
    readings = bench.readings
    raw = ctypes.create_string_buffer(16)
    bench.driver.call("cuDeviceGetUuid", raw, bench.device)
    readings.note("machine.uuid_cuda", f"GPU-{uuid.UUID(bytes=raw.raw)}")
    readings.note("machine.uuid_nvml", bench.nvml.uuid())
    address = ctypes.create_string_buffer(32)
    bench.driver.call("cuDeviceGetPCIBusId", address, len(address), bench.device)
    readings.note("machine.pci_cuda", short_bus_id(address.value.decode()))
    found = bench.nvml.bus_id()
    readings.note("machine.pci_nvml", None if found is None else short_bus_id(found))
    node = None if bench.node else host.numa_node(address.value.decode())
    readings.note("machine.numa_node", node, "the machine has no such PCI device")


def short_bus_id(text: str) -> str:
    """Return a PCI address in one form: NVML writes more zeros than CUDA does."""
    domain, _, rest = text.lower().partition(":")
    return f"{int(domain, 16):04x}:{rest}"


def _host(bench: Bench) -> None:
    readings = bench.readings
    memory = host_bytes(bench.node) if bench.node else host.total_memory()
    readings.note("machine.host_bytes", memory)
    group = host.memory_cgroup()
    if group is None:
        readings.miss("machine.cgroup", "this process is in no memory cgroup")
        return
    limit = group.limit()
    readings.note("machine.cgroup.version", group.version)
    readings.note("machine.cgroup.limit_bytes", -1 if limit is None else limit)
    readings.note("machine.cgroup.usage_bytes", group.usage(), "the root cgroup does not tell")


def _other_programs(bench: Bench) -> None:
    others = [pid for pid in bench.nvml.process_bytes() if pid != os.getpid()]
    bench.readings.note("machine.others", len(others))
