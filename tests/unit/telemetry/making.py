"""Snapshots in a line, for tests of the views drawn from them."""

from typing import Any

from nvshare.settings import ClientLimits, DeviceSettings, NodeSettings
from nvshare.telemetry.snapshot import (
    ClientStatus,
    DeviceStatus,
    HostStatus,
    NodeStatus,
    Recent,
    TimeParts,
)

GIB = 1 << 30


def make_gpu(**changes: Any) -> DeviceStatus:
    """A T4 that is used by two programs."""
    values: dict[str, Any] = {
        "index": 0,
        "uuid": "GPU-0",
        "name": "Tesla T4",
        "memory": 15 * GIB,
        "usable": 14 * GIB,
        "allocated": 0,
        "settings": DeviceSettings(),
        "clients": 2,
        "running": 1,
        "waiting": 1,
        "turn_changes": 5,
        "slices": 0,
        "handovers": 0,
        "turn_seconds": 10.0,
        "turn_ends_in": None,
        "bandwidth": 1e9,
    }
    return DeviceStatus(**{**values, **changes})


def make_client(number: int = 1, **changes: Any) -> ClientStatus:
    """A program. ``parts`` are the seconds of its last minute; the rest of it is idle."""
    parts = changes.pop("parts", {})
    seconds = TimeParts(**{"idle": 60.0 - sum(parts.values()), **parts})
    recent = {
        "seconds": 60.0,
        "attribution": seconds,
        "launches": changes.pop("launches", 0),
        "computing_percent": changes.pop("computing_percent", ()),
        "moved_in": changes.pop("came", 0),
        "moved_out": changes.pop("left", 0),
    }
    values: dict[str, Any] = {
        "id": number,
        "device": "GPU-0",
        "pid": 4710 + number,
        "uid": 1000 + number,
        "user": "root",
        "program": f"train{number}.py",
        "pod": "",
        "container": "",
        "group": f"group-{number}",
        "library_version": "1",
        "allocation": "managed",
        "state": "running",
        "state_seconds": 3.2,
        "connected_seconds": 4000.0,
        "overdue": False,
        "allocated": 3 * GIB,
        "pinned": 0,
        "swapped_out": 0,
        "limits": ClientLimits(),
        "turns": 7,
        "running_seconds": 3.0,
        "waited_seconds": 61.0,
        "longest_wait_seconds": 0.0,
        "moved_out": GIB,
        "moved_in": GIB,
        "moving_seconds": 0.0,
        "busy_seconds": 0.0,
        "launches": 0,
        "throttled_seconds": 0.0,
        "attribution": seconds,
        "recent": Recent(**recent),
    }
    return ClientStatus(**{**values, **changes})


def make_node(*clients: ClientStatus, gpus: tuple[DeviceStatus, ...] = ()) -> NodeStatus:
    """A machine with 64 GiB for memory that leaves its GPUs."""
    return NodeStatus(
        version="1.2.3",
        pid=1,
        uptime_seconds=90,
        settings=NodeSettings(),
        host=HostStatus(limit=64 * GIB, kept=9 * GIB, swapped_out=7 * GIB),
        devices=gpus or (make_gpu(),),
        clients=clients,
    )
