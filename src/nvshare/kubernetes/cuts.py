"""Annotations that ask for more than a ceiling allows, for the people who have written them.

That programs do not get more is the daemon's business (nvshare.daemon.pod_limits).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from nvshare.kubernetes.annotations import FIELDS, Reading, shown
from nvshare.kubernetes.pods import Pod
from nvshare.settings import Orders
from nvshare.telemetry.ceilings import Ceiling


@dataclass(frozen=True, slots=True)
class Cut:
    """A value that makes sense, and is not in force."""

    reason: ClassVar[str] = "GpuAnnotationCut"

    key: str
    value: str
    namespace: str
    instead: str

    def __str__(self) -> str:
        return (
            f'{shown(self.key)}: "{shown(self.value)}" is beyond the ceiling of namespace '
            f"{self.namespace}: {self.instead} is in force"
        )


def find_cuts(pod: Pod, reading: Reading, ceiling: Ceiling) -> Iterator[Cut]:
    """Give every annotation of a pod that its ceiling cuts."""
    for container, orders in reading.in_force:
        for key, field in FIELDS.items():
            key = f"{key}.{container}" if container else key
            value = getattr(orders, field)
            if key not in pod.annotations or value is None:
                continue
            for instead in ceiling.cuts(Orders.model_validate({field: value})).values():
                yield Cut(key, pod.annotations[key], pod.namespace, instead)
