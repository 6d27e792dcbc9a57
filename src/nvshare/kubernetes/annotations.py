"""Parses a pod's annotations: text in, orders and complaints out.

protocol/limits.toml defines them, except gpu-allocation:

    nvshare.com/gpu-memory-limit: 4Gi              most GPU memory of each program
    nvshare.com/gpu-core-limit: "40"               most of the GPU's time, 1 to 100
    nvshare.com/gpu-priority: low                   high, normal or low
    nvshare.com/gpu-allocation: explicit           managed, explicit, native or auto
    nvshare.com/gpu-memory-limit.trainer: 8Gi      the same for one container, over the former

An invalid value yields a complaint, and the value that was in force before stays.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from pydantic import ValidationError

from nvshare.kubernetes.pods import Container, Pod
from nvshare.limits.table import LIMITS
from nvshare.settings import NO_ORDERS, Orders
from nvshare.telemetry.pod_orders import ContainerOrders, PodOrders
from nvshare.validation import describe

PREFIX = "nvshare.com/"
# The name of each annotation, and its field of Orders.
FIELDS = {
    **{PREFIX + one.annotation: one.name for one in LIMITS if one.annotation},
    PREFIX + "gpu-allocation": "allocation",
}

# HAMi's names for the same limits, in the resources of a container; memory is in MiB.
HAMI_MEMORY = "nvidia.com/gpumem"
HAMI_COMPUTE = "nvidia.com/gpucores"
_MIB = 1 << 20
# The most characters of an invalid value that a complaint repeats.
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Complaint:
    """A value that has no effect, and why."""

    reason: ClassVar[str] = "BadGpuAnnotation"

    key: str
    value: str
    why: str

    def __str__(self) -> str:
        return f'{shown(self.key)}: "{shown(self.value)}" changes nothing: {shown(self.why)}'


@dataclass(frozen=True, slots=True)
class Reading:
    """A pod's orders, and what was wrong with some of them."""

    orders: PodOrders
    complaints: tuple[Complaint, ...] = ()
    # What is in force, by container, "" for the pod: a mistake leaves it unchanged.
    in_force: tuple[tuple[str, Orders], ...] = ()


def shown(text: str) -> str:
    """Shorten a value for a complaint."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def read_orders(pod: Pod, before: Reading | None, *, hami: bool = False) -> Reading:
    """Read all annotations of a pod. ``before`` is the result of the last time."""
    old = dict(before.in_force) if before else {}
    complaints: list[Complaint] = []
    own = _read(pod, "", NO_ORDERS, old.get("", NO_ORDERS), complaints)
    in_force = {"": own}
    containers = {}
    for container in pod.containers:
        asked = _merge(_read_hami(container, complaints) if hami else NO_ORDERS, own)
        former = old.get(container.name, asked)
        orders = _read(pod, container.name, asked, former, complaints)
        in_force[container.name] = orders
        if container.id:
            containers[container.id] = ContainerOrders(container.name, orders)
    complaints += _strangers(pod)
    return Reading(
        PodOrders(pod.namespace, pod.name, own, containers),
        tuple(complaints),
        tuple(in_force.items()),
    )


def check_annotation(key: str, value: str) -> str:
    """Return what is wrong with a value, before it is written; empty: nothing."""
    try:
        _parse(FIELDS[key], value)
    except ValueError as error:
        return _why(error)
    return ""


def _read(
    pod: Pod, container: str, base: Orders, old: Orders, complaints: list[Complaint]
) -> Orders:
    values = base.model_dump()
    for key, field in FIELDS.items():
        key = f"{key}.{container}" if container else key
        text = pod.annotations.get(key)
        if text is None:
            continue
        try:
            values[field] = getattr(_parse(field, text), field)
        except ValueError as error:
            complaints.append(Complaint(key, text, _why(error)))
            values[field] = getattr(old, field)
    return Orders.model_validate(values)


def _parse(field: str, text: str) -> Orders:
    return Orders.model_validate({field: text})


def _why(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        # The name in front is that of our field, which the user has not written.
        return "; ".join(line.partition(": ")[2] for line in describe(error))
    return str(error)


def _merge(low: Orders, high: Orders) -> Orders:
    return Orders.model_validate(
        {**low.model_dump(), **{k: v for k, v in high.model_dump().items() if v is not None}}
    )


def _read_hami(container: Container, complaints: list[Complaint]) -> Orders:
    values: dict[str, int] = {}
    if HAMI_MEMORY in container.limits and (size := container.asks(HAMI_MEMORY)):
        values["memory_limit"] = size * _MIB
    if HAMI_COMPUTE in container.limits and (percent := container.asks(HAMI_COMPUTE)):
        values["compute_percent"] = percent
    try:
        return Orders.model_validate(values)
    except ValidationError as error:
        complaints.append(
            Complaint(
                f"{HAMI_MEMORY} or {HAMI_COMPUTE} of {container.name}", str(values), _why(error)
            )
        )
        return NO_ORDERS


def _strangers(pod: Pod) -> Iterator[Complaint]:
    """Complaints about unknown annotations under our prefix: a misspelt key is a mistake, too."""
    known = set(_keys(container.name for container in pod.containers))
    for key, value in pod.annotations.items():
        if key.startswith(PREFIX + "gpu-") and key not in known:
            yield Complaint(
                key,
                value,
                f"there is no such annotation; the annotations are {', '.join(FIELDS)}, each also "
                "with .CONTAINER at its end",
            )


def _keys(containers: Iterable[str]) -> Iterator[str]:
    yield from FIELDS
    for container in containers:
        yield from (f"{key}.{container}" for key in FIELDS)
