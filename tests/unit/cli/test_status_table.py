from typing import Any

import pytest
from rich.console import Console

from nvshare.cli.status_table import allocation, compute, draw, duration, gib, used
from nvshare.telemetry.settings import ClientLimits, DeviceSettings, NodeSettings
from nvshare.telemetry.snapshot import ClientStatus, DeviceStatus, HostStatus, NodeStatus

GIB = 1 << 30


def device(**changes: Any) -> DeviceStatus:
    values: dict[str, Any] = {
        "index": 0,
        "uuid": "GPU-0",
        "name": "Tesla T4",
        "memory": 16 * GIB,
        "usable": 15 * GIB,
        "allocated": 3 * GIB,
        "settings": DeviceSettings(mode="serial", turn_seconds=30),
        "clients": 1,
        "running": 1,
        "waiting": 0,
        "turn_changes": 5,
        "slices": 1234,
        "handovers": 0,
        "turn_seconds": 1.0,
        "turn_ends_in": 12.3,
        "bandwidth": 1e9,
    }
    return DeviceStatus(**{**values, **changes})


def client(**changes: Any) -> ClientStatus:
    values: dict[str, Any] = {
        "id": 1,
        "device": "GPU-0",
        "pid": 4711,
        "uid": 0,
        "program": "train[1].py",
        "pod": "",
        "container": "",
        "group": "",
        "library_version": "1",
        "allocation": "managed",
        "state": "running",
        "state_seconds": 3.21,
        "connected_seconds": 4.0,
        "overdue": False,
        "allocated": 3 * GIB,
        "pinned": 0,
        "swapped_out": 0,
        "limits": ClientLimits(memory_limit=4 * GIB, compute_percent=40),
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
    }
    return ClientStatus(**{**values, **changes})


def shown(*clients: ClientStatus) -> str:
    status = NodeStatus(
        version="1.2.3",
        pid=1,
        uptime_seconds=90,
        settings=NodeSettings(),
        host=HostStatus(limit=205 * GIB, kept=9 * GIB, swapped_out=7 * GIB),
        devices=(device(),),
        clients=clients,
    )
    console = Console(width=200)
    with console.capture() as captured:
        console.print(draw(status))
    return captured.get()


def test_everything_is_shown() -> None:
    text = shown(client())
    for word in ("nvshare 1.2.3", "up 1 min", "Tesla T4", "serial", "30 s, 12 s left"):
        assert word in text
    for word in ("4711", "train[1].py", "running 3.2 s", "4.0 GiB, 40 %", "2.0 GiB", "1 min"):
        assert word in text


def test_how_memory_is_allocated_is_shown_and_why() -> None:
    assert allocation(client()) == "managed"
    auto = {"allocation": "explicit", "allocation_because": "auto: the GPU can map memory"}
    assert allocation(client(**auto)) == "explicit (auto: the GPU can map memory)"
    later = allocation(client(allocation_next="native"))
    assert later == "managed; native from its next process on"


def test_what_stays_on_the_gpu_is_shown_and_why() -> None:
    stays = {"as_asked": GIB, "pools": 2 * GIB, "arrays": GIB // 2}
    text = shown(client(pinned=4 * GIB, pinned_by=stays))
    assert "stays on the GPU: 2.0 GiB from memory pools, 0.5 GiB in arrays" in text
    assert "stays" not in shown(client(pinned=GIB, pinned_by={"as_asked": GIB, "arrays": 4096}))


def test_the_host_is_shown() -> None:
    assert "host memory: 7.0 GiB moved out, 9.0 of at most 205 GiB kept" in shown()


def test_nobody_is_there() -> None:
    assert "No program is connected." in shown()


def test_a_program_of_a_pod_is_shown_with_it() -> None:
    assert "team/trainer: train[1].py" in shown(client(pod_name="team/trainer"))


def test_who_is_late_is_marked() -> None:
    text = shown(client(state="yielding", overdue=True, limits=ClientLimits(), device="gone"))
    assert "overdue" in text
    assert "│ ?" in text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0.0 s"), (59.94, "59.9 s"), (3599, "59 min"), (7265, "2 h 1 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_sizes() -> None:
    assert (gib(0), gib(3 << 29), gib(640 << 30)) == ("0.0", "1.5", "640")


def test_who_is_over_its_limit_is_marked() -> None:
    limits = ClientLimits(memory_limit=4 * GIB)
    assert "4.0 of 4.0 GiB │" in shown(client(limits=limits, group_used=4 * GIB))
    text = shown(client(limits=limits, group_used=5 * GIB, swapped_out=2 * GIB))
    assert "5.0 of 4.0 GiB, over its limit" in text
    assert "3.0 GiB, 2.0 swapped" in text


def test_a_share_shows_what_it_comes_to_and_whether_it_held_anybody_back() -> None:
    assert compute(client(share=40.0)) == "40 %"
    shrunk = client(share=25.0, throttled_seconds=3.2)
    assert compute(shrunk) == "40 % (now 25 %), held back 3.2 s"
    assert compute(client(limits=ClientLimits(compute_percent=40, burst=True))) == "40 %, burst"


def test_use_is_shown_over_three_spans() -> None:
    assert used(client(used_percent={1: 30.2, 10: 29.6, 60: 5.0})) == "30 30 5 %"
