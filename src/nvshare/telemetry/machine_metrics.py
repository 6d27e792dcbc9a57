"""What Prometheus is told of the GPUs beside what programs do: who is outside, which are lost."""

from collections.abc import Iterator

from nvshare.telemetry.metrics import Metric, Section, Texts
from nvshare.telemetry.snapshot import DeviceStatus, MissingGpu, NodeStatus


def _missing(status: NodeStatus) -> Iterator[tuple[Texts, MissingGpu]]:
    """Return GPUs that are lost, and those that are not shared because they cannot be."""
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


OUTSIDE: Section[DeviceStatus] = Section(
    labels=("gpu", "uuid"),
    subjects=_gpus,
    metrics=(
        Metric(
            "nvshare_gpu_outside_processes",
            "gauge",
            "Processes that use the GPU without nvshare.",
            lambda gpu: [((), float(sum(one.pid != 0 for one in gpu.outside)))],
        ),
        Metric(
            "nvshare_gpu_outside_memory_bytes",
            "gauge",
            "What of the GPU is used without nvshare; programs cannot have it.",
            lambda gpu: [((), float(sum(one.memory for one in gpu.outside)))],
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
            "For how long a GPU of the machine cannot be used: lost, or with another daemon.",
            lambda one: [((one.why,), one.seconds)],
            ("why",),
        ),
    ),
)
