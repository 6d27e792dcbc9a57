"""Facts of a report without an expectation: for its readers, and for profiles."""

from nvshare.probe.readings import Readings
from nvshare.probe.showing import change, gib, mib, number, plain, seconds, whole, yes_no
from nvshare.probe.verdict import Fact


def _link(readings: Readings) -> str:
    width = readings.get("machine.pcie_width")
    return f"generation {readings.get('machine.pcie_generation')}, {width} lanes"


def _capability(readings: Readings) -> str:
    return f"{readings.get('machine.compute_major')}.{readings.get('machine.compute_minor')}"


def _context_bytes(readings: Readings) -> str:
    before = readings.number("memory.before.nvml_free")
    return f"{(before - readings.number('memory.context.nvml_free')) / (1 << 20):,.0f} MiB"


FACTS: tuple[Fact, ...] = (
    Fact("machine.name", "GPU", plain("machine.name")),
    Fact("machine.capability", "compute capability", _capability),
    Fact("machine.driver", "driver", plain("machine.driver")),
    Fact("machine.module", "kernel module of the driver", plain("machine.module")),
    Fact("machine.cuda", "CUDA version of the driver", plain("machine.cuda")),
    Fact("machine.kernel", "kernel", plain("machine.kernel")),
    Fact("machine.memory", "memory of the GPU", gib("machine.memory_bytes")),
    Fact("machine.pcie", "PCIe link, at most", _link),
    Fact("machine.numa", "NUMA node of the GPU", plain("machine.numa_node")),
    Fact("machine.integrated", "integrated GPU", yes_no("machine.integrated")),
    Fact("machine.watchdog", "time limit of kernels", yes_no("machine.kernel_time_limit")),
    Fact("machine.pageable", "pageable memory access", yes_no("machine.pageable_memory_access")),
    Fact("machine.vmm", "virtual memory management", yes_no("machine.virtual_memory_management")),
    Fact("machine.others", "other programs on the GPU", whole("machine.others")),
    Fact("memory.context", "memory that a context takes", _context_bytes),
    Fact("memory.module", "of free memory, a module", change("cuda_free", "context", "module")),
    Fact("memory.create", "making a context", seconds("memory.context_create_s")),
    Fact(
        "memory.resident.out",
        "resident memory (RSS) when managed memory leaves the GPU",
        change("resident", "touched", "out"),
    ),
    Fact("memory.piece", "memory that was moved about", mib("memory.piece_bytes")),
    Fact("bus.in", "copies from pinned memory", number("bus.in.gb_per_s", "GB/s")),
    Fact("bus.out", "copies to pinned memory", number("bus.out.gb_per_s", "GB/s")),
    Fact("bus.duplex", "both, as a multiple of one", number("bus.duplex")),
    Fact(
        "prefetch.populate",
        "first touch of managed memory by a kernel",
        number("prefetch.first_touch_gb_per_s", "GB/s"),
    ),
    Fact("prefetch.resident", "next touch", number("prefetch.resident_touch_gb_per_s", "GB/s")),
    *(
        Fact(
            f"prefetch.{way}.{turn}.speed",
            f"prefetch {words}, the {turn} time",
            number(f"prefetch.{way}.{turn}.gb_per_s", "GB/s"),
        )
        for way, words in (("out", "to the host"), ("in", "to the GPU"))
        for turn in ("first", "second")
    ),
    Fact("prefetch.both.speed", "both at once", number("prefetch.both.gb_per_s", "GB/s")),
    Fact(
        "prefetch.busy.in",
        "a prefetch to the GPU behind work in its stream: the call takes",
        seconds("prefetch.busy.in.call_s"),
    ),
    *(
        Fact(
            f"mapped.{way}.speed",
            f"by copies of our own {words}",
            number(f"mapped.{way}.second.gb_per_s", "GB/s"),
        )
        for way, words in (("out", "to the host"), ("in", "to the GPU"))
    ),
    Fact("mapped.both.speed", "both at once", number("mapped.both.gb_per_s", "GB/s")),
    Fact("mapped.lock", "locking pages of the host", number("mapped.lock_gb_per_s", "GB/s")),
    *(
        Fact(
            f"blocks.{way}.{turn}",
            f"one block {words}, the {turn} time",
            number(f"blocks.{way}.{turn}.total_us", "us"),
        )
        for way, words in (("out", "to the host"), ("in", "to the GPU"))
        for turn in ("first", "second")
    ),
    Fact("blocks.stay", "one block that is there already", number("blocks.stay.total_us", "us")),
    Fact("blocks.service", "each further one", number("blocks.service_us", "us")),
    Fact("faults.speed", "bringing memory in by faults", number("faults.gb_per_s", "GB/s")),
    Fact("crowded.speed", "prefetch onto a full GPU", number("crowded.in.gb_per_s", "GB/s")),
    Fact("crowded.free", "free memory of the full GPU", mib("crowded.free_bytes")),
    Fact("crowded.resident", "reading memory that is there", seconds("crowded.resident_read_s")),
    Fact(
        "crowded.again",
        "reading what was pushed out, a second time",
        seconds("crowded.helper.again_s"),
    ),
    Fact("calls.mem_get_info", "cost of cuMemGetInfo", whole("calls.mem_get_info_ns", "ns")),
    Fact("calls.latency", "from a launch to its kernel", number("calls.launch_latency_us", "us")),
    Fact("calls.floor", "an empty kernel among many", number("calls.kernel_floor_us", "us")),
    Fact("calls.depth", "launches that fit in a queue", whole("calls.queue_depth")),
    Fact("gate.library", "the CUDA runtime that was tried", plain("gate.runtime")),
)
