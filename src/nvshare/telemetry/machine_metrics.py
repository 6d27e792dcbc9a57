"""Metrics of the GPUs themselves: how busy they are, their outsiders, and lost GPUs."""

from collections.abc import Iterator

from nvshare.telemetry.metrics import WINDOW, Metric, Section, Texts
from nvshare.telemetry.snapshot import DeviceStatus, MissingGpu, NodeStatus


def _missing(status: NodeStatus) -> Iterator[tuple[Texts, MissingGpu]]:
    """Return GPUs that are lost, and GPUs that cannot be shared."""
    for gpu in status.devices:
        if gpu.lost_seconds is not None:
            seconds, why = gpu.lost_seconds, gpu.lost_because
            yield (
                (str(gpu.index), gpu.uuid),
                MissingGpu(index=gpu.index, uuid=gpu.uuid, why=why, seconds=seconds),
            )
    for one in status.missing:
        yield (str(one.index), one.uuid), one


def _gpus(status: NodeStatus) -> Iterator[tuple[Texts, DeviceStatus]]:
    return (((str(gpu.index), gpu.uuid), gpu) for gpu in status.devices)


def _used(status: NodeStatus) -> Iterator[tuple[Texts, float]]:
    """Return the part of the last seconds in which each GPU had work, as in `nvshare top`."""
    for gpu in status.devices:
        parts = (c.used_percent.get(WINDOW, 0.0) for c in status.clients if c.device == gpu.uuid)
        yield (str(gpu.index), gpu.uuid), min(1.0, sum(parts) / 100)


UTILISATION: Section[float] = Section(
    labels=("gpu", "uuid"),
    subjects=_used,
    metrics=(
        Metric(
            "nvshare_gpu_utilisation_ratio",
            "gauge",
            f"Part of the last {WINDOW} seconds in which its programs had work on the GPU.",
            columns=(((), float),),
        ),
    ),
)

OUTSIDE: Section[DeviceStatus] = Section(
    labels=("gpu", "uuid"),
    subjects=_gpus,
    metrics=(
        Metric(
            "nvshare_gpu_outside_processes",
            "gauge",
            "Processes that use the GPU without nvshare.",
            columns=(((), lambda gpu: sum(one.pid != 0 for one in gpu.outside)),),
        ),
        Metric(
            "nvshare_gpu_outside_memory_bytes",
            "gauge",
            "Memory of the GPU that is used without nvshare; programs cannot have it.",
            columns=(((), lambda gpu: sum(one.memory for one in gpu.outside)),),
        ),
    ),
)

MISSING: Section[MissingGpu] = Section(
    labels=("gpu", "uuid"),
    subjects=_missing,
    metrics=(
        Metric(
            "nvshare_gpu_unusable_seconds",
            "gauge",
            "Time that a GPU of the machine has been unusable: it is lost, or another daemon has "
            "it.",
            ("why",),
            read=lambda one: [((one.why,), one.seconds)],
        ),
    ),
)
