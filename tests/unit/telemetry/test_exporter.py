import re
from collections.abc import Iterator
from operator import is_
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families as families
from pydantic import BaseModel

from nvshare.settings import ClientLimits, DeviceSettings, LabSettings, NodeSettings
from nvshare.telemetry.exporter import SECTIONS, Exposition, expose
from nvshare.telemetry.metrics import GPU, PROGRAM
from nvshare.telemetry.snapshot import (
    ClientStatus,
    DeviceStatus,
    GroupStatus,
    GroupUse,
    HostStatus,
    MissingGpu,
    NodeStatus,
    OutsideProcess,
    Thrashing,
    TimeParts,
    Totals,
)

GIB = 1 << 30
LIMITS = ClientLimits(memory_limit=4 * GIB, compute_percent=40, burst=True, priority="low")
OPENMETRICS = "application/openmetrics-text; version=1.0.0"
MANUAL = Path(__file__).parents[3] / "docs" / "metrics.md"


def device(index: int = 0, **changes: Any) -> DeviceStatus:
    values: dict[str, Any] = {
        "index": index,
        "uuid": f"GPU-{index}",
        "name": "Tesla T4",
        "memory": 16 * GIB,
        "usable": 15 * GIB,
        "allocated": 20 * GIB,
        "settings": DeviceSettings(),
        "clients": 3,
        "running": 2,
        "waiting": 1,
        "turn_changes": 5,
        "slices": 1234,
        "handovers": 7,
        "turn_seconds": 1.5,
        "turn_ends_in": 12.3,
        "bandwidth": 1e9,
        "totals": Totals(
            clients=9, turns=70, moved_in=3 * GIB, refusals_by={"host full": 1}, launches=10**12
        ),
        "lost_seconds": 30.0,
        "lost_because": "NVML: GPU is lost",
        "outside": (OutsideProcess(pid=9, uid=1000, program="jupyter", memory=GIB),),
        "thrashing": Thrashing(seconds=7.5, programs=(1, 2), memory=24 * GIB, room=15 * GIB),
    }
    return DeviceStatus(**{**values, **changes})


def client(**changes: Any) -> ClientStatus:
    values: dict[str, Any] = {
        "id": 1,
        "device": "GPU-0",
        "pid": 4711,
        "uid": 1000,
        "program": "train.py",
        "pod": "uid-of-pod",
        "container": "id-of-container",
        "group": "container-abc",
        "library_version": "1.2",
        "allocation": "managed",
        "state": "running",
        "state_seconds": 3.25,
        "connected_seconds": 4.0,
        "overdue": False,
        "parked": "idle",
        "parked_seconds": 2.5,
        "allocated": 3 * GIB,
        "pinned": 1 * GIB,
        "swapped_out": 2 * GIB,
        "limits": LIMITS,
        "group_used": 5 * GIB,
        "turns": 7,
        "running_seconds": 3.0,
        "waited_seconds": 61.0,
        "longest_wait_seconds": 20.0,
        "moved_out": GIB,
        "moved_in": 2 * GIB,
        "moving_seconds": 0.5,
        "refusals": 3,
        "refusals_by": {"memory limit": 2, "host full": 1},
        "busy_seconds": 2.5,
        "launches": 100,
        "throttled_seconds": 0.75,
        "gpu_seconds": 1.25,
        "share": 33.5,
        "used_percent": {1: 10.0, 10: 25.0, 60: 50.0},
    }
    return ClientStatus(**{**values, **changes})


def group(**changes: Any) -> GroupStatus:
    values: dict[str, Any] = {
        "key": "container-abc",
        "name": "default/trainer/main",
        "pids": (4711,),
        "limits": LIMITS,
        "sources": {"memory_limit": "pod"},
        "uses": (GroupUse(device="GPU-0", used=5 * GIB, swapped_out=GIB, over_limit=True),),
    }
    return GroupStatus(**{**values, **changes})


def node(*clients: ClientStatus, **changes: Any) -> NodeStatus:
    values: dict[str, Any] = {
        "version": "1.2.3",
        "pid": 1,
        "uptime_seconds": 90.5,
        "settings": NodeSettings(),
        "host": HostStatus(limit=205 * GIB, kept=9 * GIB, swapped_out=7 * GIB),
        "devices": (device(0), device(1)),
        "clients": clients,
        "groups": (group(),),
        "missing": (MissingGpu(index=7, why="NVML: Not Supported", seconds=60.0),),
    }
    return NodeStatus(**{**values, **changes})


def read(status: NodeStatus) -> dict[str, list[tuple[dict[str, str], float]]]:
    """Expose a snapshot, and read it back as Prometheus would: labels and values by name."""
    text, kind = expose(status, "")
    assert kind.startswith("text/plain; version=0.0.4")
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in families(text.decode()):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def read_openmetrics(text: bytes) -> dict[str, str]:
    """Read the other form, which is checked more strictly: the type of every family."""
    parse: Any = openmetrics.text_string_to_metric_families
    return {family.name: family.type for family in parse(text.decode())}


POD = {"pod_name": "default/trainer", "container_name": "main"}


def test_values_are_those_of_the_snapshot() -> None:
    found = read(node(client(**POD)))
    gpu = {"gpu": "0", "uuid": "GPU-0"}
    program = {
        **gpu,
        "namespace": "default",
        "pod": "trainer",
        "container": "main",
        "pid": "4711",
        "program": "train.py",
        "client": "1",
    }
    assert found["nvshare_build_info"] == [({"version": "1.2.3"}, 1)]
    assert found["nvshare_uptime_seconds"] == [({}, 90.5)]
    assert found["nvshare_host_memory_swapped_bytes"] == [({}, 7 * GIB)]
    assert found["nvshare_gpu_programs_waiting"][0] == (gpu, 1)
    assert found["nvshare_gpu_launches_total"][0] == (gpu, 10**12)
    assert found["nvshare_gpu_outside_processes"][0] == (gpu, 1)
    assert found["nvshare_gpu_outside_memory_bytes"][0] == (gpu, GIB)
    assert found["nvshare_gpu_unusable_seconds"][0] == ({**gpu, "why": "NVML: GPU is lost"}, 30)
    never_seen = {"gpu": "7", "why": "NVML: Not Supported"}
    assert found["nvshare_gpu_unusable_seconds"][-1] == (never_seen, 60)
    assert found["nvshare_program_memory_limit_bytes"] == [(program, 4 * GIB)]
    assert found["nvshare_program_share_limit_ratio"] == [(program, 0.4)]
    assert found["nvshare_program_share_ratio"] == [(program, 0.335)]
    assert found["nvshare_program_used_ratio"] == [(program, 0.25)]
    assert found["nvshare_program_waiting_seconds_total"] == [(program, 61)]
    states = {labels["state"]: value for labels, value in found["nvshare_program_state"]}
    assert states == {"idle": 0, "waiting": 0, "running": 1, "yielding": 0}
    named = {**gpu, "group": "container-abc", "name": "default/trainer/main"}
    assert found["nvshare_group_memory_over_limit"] == [(named, 1)]


def test_what_there_is_not_has_no_sample() -> None:
    bare = client(limits=ClientLimits(), share=None, used_percent={})
    devices = (device(0, turn_ends_in=None, lost_seconds=None),)
    groups = (group(limits=ClientLimits()),)
    status = node(bare, devices=devices, groups=groups, missing=())
    everything = {metric.name for section in SECTIONS for metric in section.metrics}
    assert everything - set(read(status)) == {
        "nvshare_gpu_turn_remaining_seconds",
        "nvshare_gpu_unusable_seconds",
        "nvshare_program_memory_limit_bytes",
        "nvshare_program_share_limit_ratio",
        "nvshare_program_share_ratio",
        "nvshare_program_used_ratio",
        "nvshare_group_memory_limit_bytes",
        "nvshare_group_share_limit_ratio",
    }


def test_a_program_of_a_pod_whose_name_is_not_known_yet() -> None:
    ((labels, _),) = read(node(client()))["nvshare_program_memory_allocated_bytes"]
    assert "namespace" not in labels
    assert labels["pod"] == "uid-of-pod"
    assert labels["container"] == "id-of-container"


@pytest.mark.parametrize(
    "name",
    ['a"b', "a\nb", "a\\", "a\\n", '"} 1\nnvshare_evil 1', "\r\t\x01", "ünï-🐟", " ", "{}#,="],
)
def test_names_that_programs_choose_are_only_names(name: str) -> None:
    usual, odd = node(client()), node(client(program=name), groups=(group(name=name),))
    found = read(odd)
    assert found.keys() == read(usual).keys()
    assert found["nvshare_program_overdue"][0][0]["program"] == name
    assert found["nvshare_group_memory_used_bytes"][0][0]["name"] == name
    assert read_openmetrics(expose(odd, OPENMETRICS)[0]) == read_openmetrics(
        expose(usual, OPENMETRICS)[0]
    )


def test_a_long_name_is_cut() -> None:
    found = read(node(client(program="x" * 200_000), groups=(group(name="y" * 200_000),)))
    assert found["nvshare_program_overdue"][0][0]["program"] == "x" * 127 + "…"
    assert len(found["nvshare_group_memory_used_bytes"][0][0]["name"]) == 128


def test_two_clients_are_never_taken_for_one() -> None:
    # Processes that cannot be seen have pid 0; one process may connect twice.
    found = read(node(client(id=1, pid=0), client(id=2, pid=0)))
    for name, samples in found.items():
        labels = [tuple(sorted(labels.items())) for labels, _ in samples]
        assert len(set(labels)) == len(labels), name


def test_only_those_who_are_there_are_told_of() -> None:
    found = read(node(clients=(), groups=()))
    assert not [name for name in found if name.startswith(("nvshare_program", "nvshare_group"))]


def write_all(exposition: Exposition, status: NodeStatus) -> bytes:
    return b"".join(exposition.texts(status, "text/plain"))


def kept_lines(exposition: Exposition) -> list[str]:
    return [
        line
        for section in exposition._sections
        for metric in section._metrics
        for column in metric.columns
        for line in column._lines
    ]


def test_only_what_has_changed_is_written_again() -> None:
    exposition = Exposition()
    write_all(exposition, node(client(), client(id=2)))
    before = kept_lines(exposition)
    # Of the six parts of its time one has grown.
    changed = client(id=2, turns=8, attribution=TimeParts(waiting=1.5))
    text = write_all(exposition, node(client(), changed))
    lines = kept_lines(exposition)
    # Another object is another line.
    turns, parts = (new for old, new in zip(before, lines, strict=True) if new is not old)
    assert turns.startswith("nvshare_program_turns_total{")
    assert turns.endswith('client="2"} 8.0\n')
    assert parts.startswith("nvshare_program_attributed_seconds_total{")
    assert parts.endswith('client="2",state="waiting"} 1.5\n')
    assert write_all(exposition, node(client(), changed)) == text
    assert all(map(is_, kept_lines(exposition), lines))


def test_what_was_kept_is_never_told_of_somebody_else() -> None:
    exposition = Exposition()
    one, two, three = client(id=1, turns=1), client(id=2, turns=2), client(id=3, turns=3)
    renamed = client(id=2, turns=2, program="other.py")
    grown = client(id=1, turns=1, refusals_by={"context": 1})
    # Clients come, leave, change places, and get other names and other values.
    for clients in ((one, two), (two, three), (three, two, one), (), (one, renamed), (grown, two)):
        for accept in ("", OPENMETRICS):
            status = node(*clients, devices=(device(0, clients=len(clients)), device(1)))
            text, content_type = expose(status, accept)
            assert b"".join(exposition.texts(status, content_type)) == text


def test_a_scraper_that_hangs_up_leaves_nothing_half_written() -> None:
    exposition = Exposition()
    write_all(exposition, node(client(id=1), client(id=2)))
    later = node(client(id=2, turns=8), client(id=3), groups=(group(name="other"),))
    pieces = len(list(exposition.texts(later, "text/plain")))
    for end in range(0, pieces, 7):
        exposition = Exposition()
        write_all(exposition, node(client(id=1), client(id=2)))
        texts = exposition.texts(later, "text/plain")
        for _ in range(end):
            next(texts)
        del texts
        last = node(client(id=3, turns=9), client(id=2, turns=8))
        assert write_all(exposition, last) == expose(last, "")[0]


def test_the_form_is_the_one_that_is_asked_for() -> None:
    asked = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
    text, kind = expose(node(client()), asked)
    assert kind.startswith("application/openmetrics-text; version=1.0.0")
    assert text.endswith(b"# EOF\n")
    found = read_openmetrics(text)
    assert found["nvshare_build"] == "info"
    assert found["nvshare_gpu_slices"] == "counter"


def test_names_are_those_that_prometheus_expects() -> None:
    names = [metric.name for section in SECTIONS for metric in section.metrics]
    assert len(set(names)) == len(names)
    for section in SECTIONS:
        for metric in section.metrics:
            assert re.fullmatch(r"nvshare(_[a-z]+)+", metric.name)
            assert metric.name.endswith("_total") == (metric.kind == "counter")
            assert metric.name.endswith("_info") == (metric.kind == "info")
            assert not re.search(r"_(percent|ns|ms|us|kib|mib|gib)(_|$)", metric.name)
            assert re.fullmatch(r"[^\n|]+\.", metric.about)
            if "memory" in metric.name and not metric.name.endswith("_over_limit"):
                assert metric.name.endswith("_bytes")


def test_a_gpu_counts_all_that_its_programs_do() -> None:
    def counted(metrics: Any, prefix: str) -> set[str]:
        return {one.name.removeprefix(prefix) for one in metrics if one.kind == "counter"}

    own = {"programs_joined_total", "turn_changes_total", "slices_total", "handovers_total"}
    assert counted(GPU.metrics, "nvshare_gpu_") - own == counted(
        PROGRAM.metrics, "nvshare_program_"
    )


# Fields of a snapshot that no metric shows, and why.
NOT_EXPORTED = {
    "pid": "of no use in a series",
    "settings.host_memory": "host.limit is what it comes to",
    **{
        f"devices.settings.{name}": "chosen by people, who find it in `nvshare status`"
        for name in DeviceSettings.model_fields
        if name not in ("mode", "lab")
    },
    **{
        f"devices.settings.lab.{name}": "chosen in tests and experiments"
        for name in LabSettings.model_fields
    },
    "clients.pinned_by": "for people, who find it in `nvshare status`; the sum is a metric",
    "clients.stuck_because": "words for people, who find them in `nvshare status`",
    "clients.allocation_because": "words for people, who find them in `nvshare status`",
    "clients.allocation_next": "words for people, who find them in `nvshare status`",
    "devices.thrashing.programs": "each of them has a metric that says so",
    "devices.thrashing.memory": "for people, who find it in `nvshare status`",
    "devices.thrashing.room": "for people, who find it in `nvshare status`",
    "devices.outside.pid": "how many there are is told; who they are is for people",
    "devices.outside.uid": "the same",
    "devices.outside.program": "the same",
    "clients.user": "the uid is in its info, and names are for people",
    "clients.held_up_because": "words for people, who find them in `nvshare status`",
    "clients.in_gang": "whether its group is on several GPUs, which its programs tell",
    "clients.gang_waits_for": "for people, who find it in `nvshare status`",
    "clients.limits.burst": "chosen by people, who find it in `nvshare status`",
    "clients.capped": "where a limit is from is for `nvshare limit` and `nvshare why`",
    "clients.group_used": "the metrics of its group have it",
    "groups.parked": "its programs have it",
    "groups.ids": "programs have the group in their info",
    "groups.pids": "programs have the group in their info",
    "groups.sources": "where a limit is from is for `nvshare limit`",
    "groups.unstored": "said by the command that sets a limit, and in the log",
    "groups.limits.burst": "chosen by people, who find it in `nvshare limit`",
    "groups.limits.priority": "that of its programs",
    "clients.refusals": "the sum of those by reason",
    "devices.totals.refusals": "the same",
    **{
        f"clients.recent.{field}": "rates of the counters say it"
        for field in (
            *("seconds", "launches", "moved_in", "moved_out", "computing_percent"),
            *(f"attribution.{part}" for part in TimeParts.model_fields),
        )
    },
}


def changed(value: Any) -> Any:
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        # The name of a GPU must still name one.
        return "GPU-1" if value == "GPU-0" else f"{value}x"
    if isinstance(value, dict):
        return {key: changed(one) for key, one in value.items()}
    assert isinstance(value, tuple)
    return (*value, 1)


def variants(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Return the path of every field, each with a copy in which only that field is another."""
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            for below, copy in variants(getattr(value, name), f"{path}.{name}".removeprefix(".")):
                yield below, value.model_copy(update={name: copy})
    elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
        for place, one in enumerate(value):
            for below, copy in variants(one, path):
                yield below, (*value[:place], copy, *value[place + 1 :])
    else:
        yield path, changed(value)


def is_whole(status: NodeStatus) -> bool:
    """Whether all clients use GPUs that exist."""
    used = {one.device for one in status.clients}
    return used | {"GPU-0"} <= {gpu.uuid for gpu in status.devices}


def test_every_field_of_a_snapshot_is_exported_or_there_is_a_reason() -> None:
    # One GPU is unused, so that it can have another name.
    devices = (device(0), device(1), device(2))
    status = node(client(), client(id=2, **POD), devices=devices)
    text = expose(status, "")[0]
    copies = [one for one in variants(status) if is_whole(one[1])]
    seen = {path for path, copy in copies if expose(copy, "")[0] != text}
    fields = {path for path, _ in copies}
    assert fields - seen == set(NOT_EXPORTED)


def test_the_manual_has_the_same_table() -> None:
    rows = [
        tuple(cell.strip().strip("`") for cell in line.strip("|").split("|"))
        for line in MANUAL.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `nvshare_")
    ]
    expected = [
        (metric.name, metric.kind, ", ".join(metric.labels), metric.about)
        for section in SECTIONS
        for metric in section.metrics
    ]
    assert rows == expected
