"""node.conf: the description of a node for the native libraries. Text in, text out; no files here.

The first line names the format and its version. ``key=value`` lines follow, first those of the
node, then those of each GPU after a line ``[gpu]``. The reader is in C, in
``lab/emulator/model/profile.c``; a test compares the keys of both sides.
Profiles are converted here from the units of data sheets to bytes, bytes per second, nanoseconds
and kilohertz.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from nvshare.lab.emulator.profile import Profile

Data: TypeAlias = Literal["on", "off"]

HEADER = "nvshare-emulator-node 1"

# Any fixed namespace will do: it only has to be the same every time.
_UUID_NAMESPACE = uuid.UUID("5b0c6f0e-6b0e-5d0f-9a4e-6e7673686172")

_KIB = 1024
_MIB = 1024**2
_GIB = 1024**3


@dataclass(frozen=True)
class Settings:
    """Settings of a whole node, independent of its GPUs."""

    speed: float = 1.0
    data: Data = "on"
    # The memory of the machine that the GPUs are in: the daemon uses it, and it limits the host
    # pages for managed memory.
    host_bytes: int = 256 * _GIB


@dataclass
class Conf:
    """A parsed node.conf: the lines of the node, and those of each GPU."""

    node: dict[str, str] = field(default_factory=dict)
    gpus: list[dict[str, str]] = field(default_factory=list)


def write_conf(name: str, settings: Settings, profiles: Sequence[Profile]) -> str:
    """Return the text of node.conf."""
    lines = [
        HEADER,
        f"name={name}",
        f"speed={format_speed(settings.speed)}",
        f"data={settings.data}",
        f"host_bytes={settings.host_bytes}",
    ]
    for index, profile in enumerate(profiles):
        lines.append("[gpu]")
        lines += [f"{key}={value}" for key, value in _gpu_lines(name, index, profile)]
    return "\n".join(lines) + "\n"


def read_conf(text: str) -> Conf:
    """Parse the text of node.conf; ValueError if it is not one of ours."""
    header, *lines = text.splitlines() or [""]
    if header != HEADER:
        raise ValueError(f'it starts with "{header}" and not with "{HEADER}"')
    conf = Conf()
    section = conf.node
    for line in lines:
        if line == "[gpu]":
            section = {}
            conf.gpus.append(section)
            continue
        key, equals, value = line.partition("=")
        if not equals:
            raise ValueError(f'the line "{line}" is not of the form key=value')
        section[key] = value
    return conf


def format_speed(speed: float) -> str:
    """Write a speed as a plain decimal number, without an exponent."""
    return f"{speed:.6f}".rstrip("0").rstrip(".")


def gpu_uuid(node: str, index: int) -> str:
    """Return the UUID of a GPU: always the same for the same node name and index."""
    return f"GPU-{uuid.uuid5(_UUID_NAMESPACE, f'{node}/{index}')}"


def _gpu_lines(node: str, index: int, profile: Profile) -> Iterable[tuple[str, str | int]]:
    gpu, memory, bus = profile.gpu, profile.memory, profile.bus
    managed, engine, board = profile.managed, profile.engine, profile.board
    handles, host = profile.handles, profile.host
    major, minor = gpu.compute_capability.split(".")
    return [
        ("name", gpu.name),
        ("uuid", gpu_uuid(node, index)),
        # Bus 0 belongs to the host bridge on a real machine.
        ("pci_bus", index + 1),
        ("compute_major", major),
        ("compute_minor", minor),
        ("multiprocessors", gpu.multiprocessors),
        ("cores_per_multiprocessor", gpu.cores_per_multiprocessor),
        ("clock_khz", gpu.clock_mhz * 1000),
        ("memory_clock_khz", memory.clock_mhz * 1000),
        ("memory_bus_bits", memory.bus_bits),
        ("l2_bytes", gpu.l2_kib * _KIB),
        ("shared_per_block_optin", gpu.shared_kib_per_block * _KIB),
        ("shared_per_multiprocessor", gpu.shared_kib_per_multiprocessor * _KIB),
        ("threads_per_multiprocessor", gpu.threads_per_multiprocessor),
        ("blocks_per_multiprocessor", gpu.blocks_per_multiprocessor),
        ("copy_engines", gpu.copy_engines),
        ("memory_bytes", round(memory.total_mib * _MIB)),
        ("usable_bytes", round(memory.usable_mib * _MIB)),
        ("context_bytes", round(memory.context_mib * _MIB)),
        ("bandwidth", _bytes_per_s(memory.bandwidth_gb_per_s)),
        ("h2d_bandwidth", _bytes_per_s(bus.host_to_device_gb_per_s)),
        ("d2h_bandwidth", _bytes_per_s(bus.device_to_host_gb_per_s)),
        ("peer_bandwidth", _bytes_per_s(bus.peer_gb_per_s)),
        ("duplex_permille", round(bus.duplex * 1000)),
        ("pageable_bandwidth", _bytes_per_s(bus.pageable_gb_per_s)),
        ("fault_bandwidth", _bytes_per_s(managed.fault_gb_per_s)),
        ("fault_evict_bandwidth", _bytes_per_s(managed.fault_evict_gb_per_s)),
        ("populate_bandwidth", _bytes_per_s(managed.populate_gb_per_s)),
        ("host_page_ns", round(managed.host_page_us * 1e3)),
        ("host_map_ns", round(managed.host_map_us * 1e3)),
        ("host_unmap_ns", round(managed.host_unmap_us * 1e3)),
        ("service_ns", round(managed.service_us * 1e3)),
        ("evict_ns", round(managed.evict_us * 1e3)),
        ("handles_supported", int(handles.supported)),
        ("handle_create_ns", round(handles.create_us * 1e3)),
        ("handle_create_block_ns", round(handles.create_block_us * 1e3)),
        ("handle_map_ns", round(handles.map_us * 1e3)),
        ("handle_access_ns", round(handles.access_us * 1e3)),
        ("handle_access_block_ns", round(handles.access_block_us * 1e3)),
        ("handle_unmap_ns", round(handles.unmap_us * 1e3)),
        ("handle_unmap_block_ns", round(handles.unmap_block_us * 1e3)),
        ("handle_release_ns", round(handles.release_us * 1e3)),
        ("handle_release_block_ns", round(handles.release_block_us * 1e3)),
        ("handle_reserve_ns", round(handles.reserve_us * 1e3)),
        ("host_register_ns", round(host.register_us * 1e3)),
        ("host_lock_block_ns", round(host.lock_block_us * 1e3)),
        ("host_unlock_block_ns", round(host.unlock_block_us * 1e3)),
        ("slice_ns", round(engine.slice_us * 1e3)),
        # Every slice ends with a switch, so the loss per slice is the loss over all.
        ("switch_ns", round(engine.slice_us * engine.sharing_loss * 1e3)),
        ("kernel_floor_ns", round(engine.kernel_floor_us * 1e3)),
        ("launch_ns", round(engine.launch_us * 1e3)),
        ("context_create_ns", round(engine.context_create_ms * 1e6)),
        ("queue_depth", engine.queue_depth),
        ("pcie_generation", bus.pcie_generation),
        ("pcie_width", bus.pcie_width),
        ("power_idle_mw", round(board.power_idle_w * 1000)),
        ("power_limit_mw", round(board.power_limit_w * 1000)),
        ("temperature_idle_c", board.temperature_idle_c),
        ("temperature_busy_c", board.temperature_busy_c),
    ]


def _bytes_per_s(gb_per_s: float) -> int:
    # The native side divides by rates: a tiny one must not become zero.
    return max(1, round(gb_per_s * 1e9))
