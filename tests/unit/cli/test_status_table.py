from typing import Any

import pytest

from nvshare.cli.status_table import (
    allocation,
    compute,
    duration,
    gib,
    host,
    limits,
    notes,
    remarks,
)
from nvshare.settings import ClientLimits, NodeSettings
from nvshare.telemetry.snapshot import ClientStatus, HostStatus, MissingGpu, NodeStatus

GIB = 1 << 30


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


def node(*clients: ClientStatus) -> NodeStatus:
    return NodeStatus(
        version="1.2.3",
        pid=1,
        uptime_seconds=90,
        settings=NodeSettings(),
        host=HostStatus(limit=205 * GIB, kept=9 * GIB, swapped_out=7 * GIB),
        devices=(),
        clients=clients,
    )


def test_the_host_is_shown() -> None:
    assert host(node().host) == "host memory: 7.0 GiB moved out, 9.0 of at most 205 GiB kept"


def test_how_memory_is_allocated_is_shown_and_why() -> None:
    assert allocation(client()) == "managed"
    auto = {"allocation": "explicit", "allocation_because": "auto: the GPU can map memory"}
    assert allocation(client(**auto)) == "explicit (auto: the GPU can map memory)"
    later = allocation(client(allocation_next="native"))
    assert later == "managed; native from its next process on"


def test_what_stays_on_the_gpu_is_shown_and_why() -> None:
    stays = {"as_asked": GIB, "pools": 2 * GIB, "arrays": GIB // 2}
    (text,) = notes(node(client(pinned=4 * GIB, pinned_by=stays)))
    assert "stays on the GPU: 2.0 GiB from memory pools, 0.5 GiB in arrays" in text
    assert not notes(node(client(pinned=GIB, pinned_by={"as_asked": GIB, "arrays": 4096})))


def test_which_gpus_cannot_be_used_is_said() -> None:
    missing = MissingGpu(index=1, why="the daemon of bob has it", seconds=3.0)
    status = node().model_copy(update={"missing": (missing,)})
    assert notes(status) == ["GPU 1: not shared for 3.0 s: the daemon of bob has it"]


def test_which_gpu_a_program_on_several_waits_for_is_shown() -> None:
    (text,) = notes(node(client(state="waiting", in_gang=True, gang_waits_for=("GPU-0",))))
    assert "waits for room for its whole program: on GPU" in text
    assert not notes(node(client(in_gang=True)))


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0.0 s"), (59.94, "59.9 s"), (3599, "59 min"), (7265, "2 h 1 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_sizes() -> None:
    assert (gib(0), gib(3 << 29), gib(640 << 30)) == ("0.0", "1.5", "640")


def test_who_is_over_its_limit_is_marked() -> None:
    own = ClientLimits(memory_limit=4 * GIB)
    assert limits(client(limits=own, group_used=4 * GIB)) == "4.0 of 4.0 GiB"
    over = client(limits=own, group_used=5 * GIB)
    assert limits(over) == "5.0 of 4.0 GiB, over its limit"
    assert remarks(node(over)) == ["1 (train[1].py, pid 4711): over its limit: 5.0 of 4.0 GiB"]


def test_a_share_shows_what_it_comes_to_and_whether_it_held_anybody_back() -> None:
    assert compute(client(share=40.0)) == "40 %"
    shrunk = client(share=25.0, throttled_seconds=3.2)
    assert compute(shrunk) == "40 % (now 25 %), held back 3.2 s"
    assert compute(client(limits=ClientLimits(compute_percent=40, burst=True))) == "40 %, burst"
