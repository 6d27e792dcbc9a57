"""The constants of a GPU profile that follow from a report. Readings in, numbers out.

Work for a single block does not overlap, so the time of a call is a sum, and subtraction separates
its parts: a block that leaves for the first time, one that leaves again, and one that stays where
it is. The caller's work for a block that comes back is in the time of a call on many blocks, which
returns while they are on their way.
"""

from collections.abc import Callable
from typing import TypeAlias

from nvshare.probe.gpu import BLOCK
from nvshare.probe.readings import MissingError, Readings

Measured: TypeAlias = dict[str, float | str]

_KIB = 1 << 10
_MIB = 1 << 20
# The part of a prefetch's time above which the call itself does the work.
_NEARLY_ALL = 0.8


def derive(readings: Readings) -> Measured:
    """Return the measured values by field of a profile, such as "bus.duplex"."""
    found: Measured = {}
    for field, rule in _RULES.items():
        try:
            found[field] = rule(readings)
        except (MissingError, ZeroDivisionError):
            continue
    return found


def why_not(readings: Readings, field: str) -> str | None:
    """Return why a field that can be measured was not; None: it cannot be measured at all."""
    if field not in _RULES:
        return None
    try:
        _RULES[field](readings)
    except MissingError as missing:
        return str(missing)
    except ZeroDivisionError:
        return "a reading is zero"
    return None


def _reading(name: str, factor: float = 1.0) -> "Callable[[Readings], float]":
    return lambda readings: readings.number(name) * factor


def _known(name: str, factor: float = 1.0) -> "Callable[[Readings], float]":
    """A number that some drivers report as 0 instead of its value."""

    def read(readings: Readings) -> float:
        value = readings.number(name)
        if value <= 0:
            raise MissingError("the driver does not tell")
        return value * factor

    return read


def _capability(readings: Readings) -> str:
    major = readings.number("machine.compute_major")
    return f"{major:.0f}.{readings.number('machine.compute_minor'):.0f}"


def _context(readings: Readings) -> float:
    before = readings.number("memory.before.nvml_free")
    taken = before - readings.number("memory.context.nvml_free")
    if taken <= 0:
        raise MissingError("free memory did not fall when a context was made")
    return taken / _MIB


def _idle(name: str) -> "Callable[[Readings], float]":
    def read(readings: Readings) -> float:
        if readings.number("machine.others"):
            raise MissingError("other programs were on the GPU")
        return readings.number(name)

    return read


def _copy_us(readings: Readings, way: str) -> float:
    return BLOCK / (readings.number(f"bus.{way}.gb_per_s") * 1e9) * 1e6


def _host_page(readings: Readings) -> float:
    first = readings.number("blocks.out.first.total_us")
    return max(0.0, first - readings.number("blocks.out.second.total_us"))


def _beyond_copy(readings: Readings, way: str) -> float:
    """The cost of moving a block in this direction, without its copy and the call."""
    call = readings.number(f"blocks.{way}.second.call_us")
    total = readings.number(f"blocks.{way}.second.total_us")
    # If the call itself does all the work, the events around it add only their own time.
    count = "call_us" if call > _NEARLY_ALL * total else "total_us"
    moved, stayed = (
        readings.number(f"blocks.{which}.{count}") for which in (f"{way}.second", "stay")
    )
    return max(0.0, moved - stayed - _copy_us(readings, way))


def _host_map(readings: Readings) -> float:
    return _beyond_copy(readings, "out")


def _host_unmap(readings: Readings) -> float:
    """Where the call does not wait for the copies, its own time is mostly unmapping."""
    call = readings.number("prefetch.in.second.call_s")
    if call > readings.number("prefetch.in.second.total_s") / 2:
        return _beyond_copy(readings, "in")
    blocks = readings.number("prefetch.piece_bytes") / BLOCK
    return max(0.0, call * 1e6 / blocks - readings.number("blocks.service_us"))


_RULES: dict[str, Callable[[Readings], float | str]] = {
    "gpu.name": lambda readings: str(readings.get("machine.name")),
    "gpu.compute_capability": _capability,
    "gpu.multiprocessors": _known("machine.multiprocessors"),
    "gpu.cores_per_multiprocessor": lambda readings: (
        readings.number("machine.cores") / readings.number("machine.multiprocessors")
    ),
    "gpu.clock_mhz": _known("machine.clock_khz", 1e-3),
    "gpu.l2_kib": _known("machine.l2_bytes", 1 / _KIB),
    "gpu.shared_kib_per_multiprocessor": _known("machine.shared_per_multiprocessor", 1 / _KIB),
    "gpu.shared_kib_per_block": _known("machine.shared_per_block", 1 / _KIB),
    "gpu.threads_per_multiprocessor": _known("machine.threads_per_multiprocessor"),
    "gpu.blocks_per_multiprocessor": _known("machine.blocks_per_multiprocessor"),
    "gpu.copy_engines": _known("machine.copy_engines"),
    "memory.total_mib": _known("machine.memory_bytes", 1 / _MIB),
    "memory.usable_mib": _known("memory.usable_bytes", 1 / _MIB),
    "memory.context_mib": _context,
    "memory.bandwidth_gb_per_s": _known("prefetch.resident_touch_gb_per_s"),
    "memory.clock_mhz": _known("machine.memory_clock_khz", 1e-3),
    "memory.bus_bits": _known("machine.memory_bus_bits"),
    "bus.pcie_generation": _known("machine.pcie_generation"),
    "bus.pcie_width": _known("machine.pcie_width"),
    "bus.host_to_device_gb_per_s": _known("bus.in.gb_per_s"),
    "bus.device_to_host_gb_per_s": _known("bus.out.gb_per_s"),
    # Noise may exceed the possible range a little.
    "bus.duplex": lambda readings: min(2.0, max(1.0, readings.number("bus.duplex"))),
    "managed.fault_gb_per_s": _known("faults.gb_per_s"),
    "managed.populate_gb_per_s": _known("prefetch.first_touch_gb_per_s"),
    "managed.host_page_us": _host_page,
    "managed.host_map_us": _host_map,
    "managed.host_unmap_us": _host_unmap,
    "managed.service_us": _reading("blocks.service_us"),
    "engine.kernel_floor_us": _reading("calls.kernel_floor_us"),
    "engine.launch_us": _reading("calls.launch_latency_us"),
    "engine.context_create_ms": _reading("memory.context_create_s", 1e3),
    "engine.queue_depth": _known("calls.queue_depth"),
    "board.power_idle_w": _idle("machine.power_w"),
    "board.power_limit_w": _reading("machine.power_limit_w"),
    "board.temperature_idle_c": _idle("machine.temperature_c"),
}
