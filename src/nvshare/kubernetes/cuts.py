"""Complaints about annotations that ask for more than a ceiling allows.

The daemon itself enforces the ceiling (nvshare.daemon.groups.pods).
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
    """A valid value that is not in force."""

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
    """Yield every annotation of a pod that its ceiling cuts."""
    for container, orders in reading.in_force:
        for key, field in FIELDS.items():
            key = f"{key}.{container}" if container else key
            value = getattr(orders, field)
            if key not in pod.annotations or value is None:
                continue
            for instead in ceiling.cuts(Orders.model_validate({field: value})).values():
                yield Cut(key, pod.annotations[key], pod.namespace, instead)
