"""All metrics for Prometheus, and where in a snapshot each is found.

Names follow the conventions of Prometheus: seconds, bytes and ratios, counters end in ``_total``.
A value that is None in a snapshot has no sample. docs/metrics.md describes the same table.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_args

from nvshare.telemetry.snapshot import (
    ClientStatus,
    DeviceStatus,
    GroupStatus,
    GroupUse,
    NodeStatus,
    Parked,
    Refused,
    TimeParts,
)

Subject = TypeVar("Subject")
Number: TypeAlias = int | float | None
Texts: TypeAlias = tuple[str, ...]

# The window of a GPU's used share, in seconds. For longer times, the rate of the busy seconds
# serves, and an occasional scrape would miss a shorter one.
WINDOW = 10

STATES: Texts = get_args(ClientStatus.model_fields["state"].annotation)
PARKED: Texts = get_args(Parked)
REFUSED: Texts = get_args(Refused)
PARTS: Texts = tuple(TimeParts.model_fields)


@dataclass(frozen=True, slots=True)
class Metric(Generic[Subject]):
    """One metric, which may have labels beside those of its subject."""

    name: str
    kind: Literal["gauge", "counter", "info"]
    about: str
    labels: Texts = ()
    # The label values that are known beforehand, each with the function that reads its number.
    # Most metrics have no labels, and so one of these.
    columns: tuple[tuple[Texts, Callable[[Subject], Number]], ...] = ()
    # Reads all samples of a subject, where the label values are not known beforehand.
    read: Callable[[Subject], Iterable[tuple[Texts, float]]] | None = None


@dataclass(frozen=True, slots=True)
class Section(Generic[Subject]):
    """The metrics of one kind of subject, and the labels that identify a subject."""

    labels: Texts
    subjects: Callable[[NodeStatus], Iterable[tuple[Texts, Subject]]]
    metrics: tuple[Metric[Subject], ...]


def _gauge(name: str, about: str, value: Callable[[Subject], Number]) -> Metric[Subject]:
    return Metric(f"nvshare_{name}", "gauge", about, columns=(((), value),))


def _counter(name: str, about: str, value: Callable[[Subject], Number]) -> Metric[Subject]:
    return Metric(f"nvshare_{name}_total", "counter", about, columns=(((), value),))


def _info(
    name: str, about: str, labels: Texts, values: Callable[[Subject], Texts]
) -> Metric[Subject]:
    return Metric(
        f"nvshare_{name}_info", "info", about, labels, read=lambda one: [(values(one), 1.0)]
    )


def _ratio(percent: Number) -> Number:
    return None if percent is None else percent / 100


def _which(
    known: Texts, value: Callable[[Subject], str | None]
) -> tuple[tuple[Texts, Callable[[Subject], Number]], ...]:
    """Return 1 for the present value, and 0 for the other possible ones."""

    def reader(name: str) -> Callable[[Subject], Number]:
        return lambda subject: value(subject) == name

    return tuple(((name,), reader(name)) for name in known)


def _gpu_labels(status: NodeStatus) -> dict[str, Texts]:
    return {gpu.uuid: (str(gpu.index), gpu.uuid) for gpu in status.devices}


def _gpus(status: NodeStatus) -> Iterator[tuple[Texts, DeviceStatus]]:
    labels = _gpu_labels(status)
    return ((labels[gpu.uuid], gpu) for gpu in status.devices)


def _programs(status: NodeStatus) -> Iterator[tuple[Texts, ClientStatus]]:
    gpus = _gpu_labels(status)
    for one in status.clients:
        # The cluster's names if they are known, else those of the kernel. The id makes them unique:
        # a process that reconnects, or whose pid cannot be seen, would appear twice.
        namespace, _, pod = one.pod_name.rpartition("/")
        container = one.container_name or one.container
        names = (namespace, pod or one.pod, container, str(one.pid), one.program, str(one.id))
        yield (*gpus[one.device], *names), one


def _groups(status: NodeStatus) -> Iterator[tuple[Texts, tuple[GroupStatus, GroupUse]]]:
    gpus = _gpu_labels(status)
    for group in status.groups:
        for use in group.uses:
            yield (*gpus[use.device], group.key, group.name), (group, use)


# The counters of every program, and of a GPU over all programs that it has ever had: the name of
# the metric, a sentence, and the field.
_COUNTED = (
    ("turns", "Turns granted.", "turns"),
    ("running_seconds", "Time with a turn.", "running_seconds"),
    ("waiting_seconds", "Time with work and without a turn.", "waited_seconds"),
    ("busy_seconds", "Time with work on the GPU.", "busy_seconds"),
    (
        "measured_seconds",
        "GPU time used while there was a share of compute, as measured.",
        "gpu_seconds",
    ),
    ("throttled_seconds", "Time held back by a share of compute.", "throttled_seconds"),
    ("launches", "Calls that gave the GPU work.", "launches"),
    ("moved_in_bytes", "Memory moved from the host to the GPU.", "moved_in"),
    ("moved_out_bytes", "Memory moved from the GPU to the host.", "moved_out"),
    ("moving_seconds", "Time that moving memory took.", "moving_seconds"),
)


def _counted(prefix: str, path: str = "") -> Iterator[Metric[Any]]:
    """Return these counters as metrics of a kind of subject."""
    for name, about, field in _COUNTED:
        yield _counter(f"{prefix}_{name}", about, attrgetter(path + field))
    yield Metric(
        f"nvshare_{prefix}_attributed_seconds_total",
        "counter",
        "Time of programs, by what they did; the parts add up to their connected time.",
        ("state",),
        tuple(((part,), attrgetter(f"{path}attribution.{part}")) for part in PARTS),
    )
    refusals_of = attrgetter(f"{path}refusals_by")

    def reader(why: str) -> Callable[[Any], Number]:
        # All of them, also with 0: Prometheus does not see a counter that begins at 1 grow.
        return lambda subject: refusals_of(subject).get(why, 0)

    yield Metric(
        f"nvshare_{prefix}_refusals_total",
        "counter",
        "Number of times that programs were refused memory, by the reason.",
        ("reason",),
        tuple(((why,), reader(why)) for why in REFUSED),
    )


NODE: Section[NodeStatus] = Section(
    labels=(),
    subjects=lambda status: [((), status)],
    metrics=(
        _info("build", "Version of the daemon.", ("version",), lambda node: (node.version,)),
        _gauge("uptime_seconds", "Time since the daemon began.", attrgetter("uptime_seconds")),
        _gauge(
            "host_memory_limit_bytes",
            "Most host memory that may be kept for memory that leaves the GPUs.",
            attrgetter("host.limit"),
        ),
        _gauge(
            "host_memory_kept_bytes",
            "Host memory that is kept for memory that has left a GPU once, or may soon leave it.",
            attrgetter("host.kept"),
        ),
        _gauge(
            "host_memory_swapped_bytes",
            "GPU memory that is on the host now.",
            attrgetter("host.swapped_out"),
        ),
    ),
)

GPU: Section[DeviceStatus] = Section(
    labels=("gpu", "uuid"),
    subjects=_gpus,
    metrics=(
        _info(
            "gpu",
            "Name and mode of the GPU.",
            ("name", "mode"),
            lambda gpu: (gpu.name, gpu.settings.mode),
        ),
        _gauge("gpu_memory_bytes", "Memory of the GPU.", attrgetter("memory")),
        _gauge(
            "gpu_memory_usable_bytes",
            "Memory of the GPU that programs may fill.",
            attrgetter("usable"),
        ),
        _gauge(
            "gpu_memory_allocated_bytes",
            "Memory that programs have allocated, contexts included; may be more than the GPU has.",
            attrgetter("allocated"),
        ),
        _gauge("gpu_programs", "Programs that use the GPU.", attrgetter("clients")),
        _gauge("gpu_programs_running", "Programs that have a turn.", attrgetter("running")),
        _gauge("gpu_programs_waiting", "Programs that wait for a turn.", attrgetter("waiting")),
        _gauge(
            "gpu_programs_parked",
            "Programs that are parked: all their memory is to be on the host.",
            attrgetter("parked"),
        ),
        _counter(
            "gpu_programs_joined",
            "Programs that have ever connected.",
            attrgetter("totals.clients"),
        ),
        _counter(
            "gpu_turn_changes",
            "Turns given up, other than slices.",
            attrgetter("turn_changes"),
        ),
        _counter(
            "gpu_slices",
            "Slices given up: short turns of programs that fit together.",
            attrgetter("slices"),
        ),
        _counter(
            "gpu_handovers",
            "Turns and slices that one program handed over to the next directly.",
            attrgetter("handovers"),
        ),
        _gauge("gpu_turn_seconds", "Age of the present turn.", attrgetter("turn_seconds")),
        _gauge(
            "gpu_turn_remaining_seconds",
            "Time until the present turn ends, if a program waits for that.",
            attrgetter("turn_ends_in"),
        ),
        _gauge(
            "gpu_move_bandwidth_bytes_per_second",
            "Expected speed of moving memory, estimated from earlier moves.",
            attrgetter("bandwidth"),
        ),
        _gauge(
            "gpu_thrashing_seconds",
            "Time for which programs have stood still, paging against each other; 0: none do.",
            lambda gpu: 0.0 if gpu.thrashing is None else gpu.thrashing.seconds,
        ),
        *_counted("gpu", "totals."),
    ),
)

PROGRAM: Section[ClientStatus] = Section(
    labels=("gpu", "uuid", "namespace", "pod", "container", "pid", "program", "client"),
    subjects=_programs,
    metrics=(
        _info(
            "program",
            "Further properties of the program.",
            ("group", "uid", "allocation", "priority", "library_version"),
            lambda one: (
                one.group,
                str(one.uid),
                one.allocation,
                one.limits.priority or "normal",
                one.library_version,
            ),
        ),
        Metric(
            "nvshare_program_state",
            "gauge",
            "1 for the state that the program is in.",
            ("state",),
            _which(STATES, attrgetter("state")),
        ),
        _gauge(
            "program_state_seconds",
            "Time that the program has been in its state.",
            attrgetter("state_seconds"),
        ),
        _gauge(
            "program_connected_seconds",
            "Time since the program connected to the daemon.",
            attrgetter("connected_seconds"),
        ),
        _gauge(
            "program_longest_wait_seconds",
            "Longest time that the program has waited for a turn.",
            attrgetter("longest_wait_seconds"),
        ),
        _gauge(
            "program_overdue",
            "1 if the program was told to give way and has not, and others go on without it.",
            attrgetter("overdue"),
        ),
        _gauge(
            "program_cannot_drain",
            "1 if the program cannot give way as told: its work waits for its own next calls.",
            attrgetter("cannot_drain"),
        ),
        _gauge(
            "program_thrashing",
            "1 if the program stands still, because it pages against other programs.",
            attrgetter("thrashes"),
        ),
        Metric(
            "nvshare_program_parked",
            "gauge",
            "1 for the reason why the program is parked, if it is.",
            ("why",),
            _which(PARKED, attrgetter("parked")),
        ),
        _gauge(
            "program_parked_seconds",
            "Time since the program was parked; 0 if it is not.",
            attrgetter("parked_seconds"),
        ),
        _gauge(
            "program_memory_allocated_bytes",
            "Memory that the program has allocated.",
            attrgetter("allocated"),
        ),
        _gauge(
            "program_memory_pinned_bytes",
            "Allocated memory of the program that cannot leave the GPU.",
            attrgetter("pinned"),
        ),
        _gauge(
            "program_memory_swapped_bytes",
            "Allocated memory of the program that is on the host.",
            attrgetter("swapped_out"),
        ),
        _gauge(
            "program_memory_context_bytes",
            "Other GPU memory of the program: its context, modules, and free memory in pools.",
            attrgetter("context"),
        ),
        _gauge(
            "program_memory_kept_bytes",
            "Host memory kept for memory of the program that has left the GPU once, or may soon.",
            attrgetter("kept"),
        ),
        _gauge(
            "program_memory_stuck_bytes",
            "Memory of the program that cannot leave the GPU: the host or its cgroup has no room.",
            attrgetter("stuck"),
        ),
        _gauge(
            "program_held_up",
            "1 if the program waits because the host is short of memory.",
            attrgetter("held_up"),
        ),
        _gauge(
            "program_memory_limit_bytes",
            "Most memory that the group of the program can allocate, if there is a limit.",
            attrgetter("limits.memory_limit"),
        ),
        _gauge(
            "program_share_limit_ratio",
            "Share of compute that was set, if one was.",
            lambda one: _ratio(one.limits.compute_percent),
        ),
        _gauge(
            "program_share_ratio",
            "Share of compute that is in force beside the shares of others, if there is one.",
            lambda one: _ratio(one.share),
        ),
        _gauge(
            "program_used_ratio",
            f"Part of the last {WINDOW} seconds in which the program had work on the GPU.",
            lambda one: _ratio(one.used_percent.get(WINDOW)),
        ),
        *_counted("program"),
    ),
)

GROUP: Section[tuple[GroupStatus, GroupUse]] = Section(
    labels=("gpu", "uuid", "group", "name"),
    subjects=_groups,
    metrics=(
        _gauge("group_memory_used_bytes", "GPU memory that the group uses.", lambda it: it[1].used),
        _gauge(
            "group_memory_swapped_bytes",
            "GPU memory of the group that is on the host.",
            lambda it: it[1].swapped_out,
        ),
        _gauge(
            "group_memory_limit_bytes",
            "Most GPU memory that the group can use, if there is a limit.",
            lambda it: it[0].limits.memory_limit,
        ),
        _gauge(
            "group_memory_over_limit",
            "1 if the group uses more than its limit, which was lowered.",
            lambda it: it[1].over_limit,
        ),
        _gauge(
            "group_share_limit_ratio",
            "Share of compute that was set, if one was.",
            lambda it: _ratio(it[0].limits.compute_percent),
        ),
    ),
)
