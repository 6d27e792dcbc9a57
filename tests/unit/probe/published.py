"""The readings of a T4 that behaves like the published driver. Made up, not measured."""

from nvshare.probe.readings import Readings, Value

MIB = 1 << 20
GIB = 1 << 30

_FREE = 14_600 * MIB


def _memory() -> dict[str, Value]:
    """Every count at every step: cuda_free, nvml_free, process, host_used, resident, cgroup."""
    steps = {
        "before": (_FREE + 300 * MIB, 0, 0),
        "context": (_FREE, 300, 0),
        "module": (_FREE - 2 * MIB, 302, 0),
        "allocated": (_FREE - 2 * MIB, 302, 0),
        "touched": (_FREE - 1026 * MIB, 302, 0),
        "out": (_FREE - 1026 * MIB, 302, 1024),
        "back": (_FREE - 1026 * MIB, 302, 1024),
        "freed": (_FREE - 130 * MIB, 302, 0),
        "after": (_FREE + 172 * MIB, 0, 0),
    }
    found: dict[str, Value] = {}
    for step, (free, process, host) in steps.items():
        found[f"memory.{step}.cuda_free"] = free
        found[f"memory.{step}.nvml_free"] = free
        found[f"memory.{step}.process"] = process * MIB
        found[f"memory.{step}.host_used"] = host * MIB - 7 * GIB
        found[f"memory.{step}.resident"] = 90 * MIB + host * MIB
        found[f"memory.{step}.cgroup"] = 60 * MIB + host * MIB
    return found


def _moves() -> dict[str, Value]:
    """The times of a piece of 1 GiB: of the call, and of all of it."""
    times = {
        "prefetch.out.first": (0.152, 0.152),
        "prefetch.out.second": (0.121, 0.121),
        "prefetch.in.first": (0.009, 0.097),
        "prefetch.in.second": (0.00824, 0.096),
        "crowded.in": (0.02, 0.2),
    }
    found: dict[str, Value] = {}
    for name, (call, total) in times.items():
        found[f"{name}.call_s"], found[f"{name}.total_s"] = call, total
        found[f"{name}.gb_per_s"] = GIB / total / 1e9
    return found


VALUES: dict[str, Value] = {
    **_memory(),
    **_moves(),
    "machine.name": "Tesla T4",
    "machine.driver": "595.45.04",
    "machine.module": "open",
    "machine.cuda": "13.2",
    "machine.kernel": "6.8.0-45-generic",
    "machine.compute_mode": "default",
    "machine.mig": False,
    "machine.mps": "none",
    "machine.compute_major": 7,
    "machine.compute_minor": 5,
    "machine.multiprocessors": 40,
    "machine.cores": 2560,
    "machine.clock_khz": 1_590_000,
    "machine.memory_clock_khz": 5_001_000,
    "machine.memory_bus_bits": 256,
    "machine.l2_bytes": 4 * MIB,
    "machine.shared_per_multiprocessor": 65_536,
    "machine.shared_per_block": 65_536,
    "machine.threads_per_multiprocessor": 1024,
    "machine.blocks_per_multiprocessor": 16,
    "machine.copy_engines": 3,
    "machine.integrated": 0,
    "machine.kernel_time_limit": 0,
    "machine.managed_memory": 1,
    "machine.concurrent_managed_access": 1,
    "machine.pageable_memory_access": 1,
    "machine.virtual_memory_management": 1,
    "machine.pcie_generation": 3,
    "machine.pcie_width": 16,
    "machine.numa_node": 0,
    "machine.power_w": 9.6,
    "machine.power_limit_w": 70.0,
    "machine.temperature_c": 33,
    "machine.memory_bytes": 15_360 * MIB,
    "machine.uuid_cuda": "GPU-1",
    "machine.uuid_nvml": "GPU-1",
    "machine.pci_cuda": "0000:01:00.0",
    "machine.pci_nvml": "0000:01:00.0",
    "machine.host_bytes": 64 * GIB,
    "machine.cgroup.version": 2,
    "machine.cgroup.limit_bytes": -1,
    "machine.others": 0,
    "memory.piece_bytes": GIB,
    "memory.context_create_s": 0.21,
    "memory.usable_bytes": 14_913 * MIB,
    "bus.in.gb_per_s": 12.3,
    "bus.out.gb_per_s": 13.1,
    "bus.duplex": 1.7,
    "calls.launch_ns": 2500.0,
    "calls.event_record_ns": 900.0,
    "calls.event_query_ns": 400.0,
    "calls.mem_get_info_ns": 20_000.0,
    "calls.kernel_floor_us": 1.9,
    "calls.launch_latency_us": 5.5,
    "calls.queue_depth": 1023,
    "prefetch.first_touch_gb_per_s": 7.1,
    "prefetch.resident_touch_gb_per_s": 250.0,
    "prefetch.wrong_words": 0,
    "prefetch.both.total_s": 0.07,
    "prefetch.both.gb_per_s": 15.0,
    "prefetch.both.gain": 1.5,
    "prefetch.busy.in.call_s": 2e-5,
    "prefetch.busy.out.call_s": 2e-5,
    "prefetch.busy.work_s": 0.3,
    "prefetch.piece_bytes": GIB,
    "mapped.piece_bytes": GIB,
    "mapped.lock_gb_per_s": 3.0,
    "mapped.out.first.gb_per_s": 12.0,
    "mapped.out.second.gb_per_s": 12.1,
    "mapped.in.first.gb_per_s": 11.5,
    "mapped.in.second.gb_per_s": 11.6,
    "mapped.both.gb_per_s": 16.0,
    "mapped.wrong_words": 0,
    "blocks.out.first.call_us": 290.0,
    "blocks.out.first.total_us": 297.0,
    "blocks.out.second.call_us": 231.0,
    "blocks.out.second.total_us": 236.0,
    "blocks.in.first.call_us": 25.0,
    "blocks.in.first.total_us": 195.0,
    "blocks.in.second.call_us": 25.0,
    "blocks.in.second.total_us": 195.0,
    "blocks.stay.call_us": 8.0,
    "blocks.stay.total_us": 10.0,
    "blocks.service_us": 1.1,
    "untouched.seconds": 0.08,
    "untouched.host_bytes": GIB,
    "untouched.piece_bytes": GIB,
    "faults.seconds": 1.5,
    "faults.gb_per_s": 0.72,
    "crowded.piece_bytes": GIB,
    "crowded.free_bytes": 2 * MIB,
    "crowded.resident_read_s": 0.0044,
    "crowded.read_s": 0.0046,
    "crowded.helper.read_s": 1.5,
    "crowded.helper.again_s": 0.0044,
    "crowded.helper.wrong_words": 0,
    "side_by_side.plain_bytes": 64 * MIB,
    "side_by_side.plain_seen_bytes": 64 * MIB,
    "side_by_side.own_percent": 48,
    "side_by_side.helper_percent": 49,
    "gate.launches": 2000,
    "gate.driver_seen": 1933,
    "gate.runtime_seen": 2048,
    "gate.runtime": "libcudart.so.12",
    "capture.captures": 100,
    "capture.failures": 0,
    "capture.wrong_words": 0,
    "capture.turns": 6,
}


def published(**changes: Value) -> Readings:
    """Return the readings with changes; a name has two underscores in place of a dot."""
    return Readings({**VALUES, **{name.replace("__", "."): it for name, it in changes.items()}})
