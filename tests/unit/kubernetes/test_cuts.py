"""A pod that requests more than a ceiling allows is told what it gets."""

from nvshare.kubernetes.annotations import read_orders
from nvshare.kubernetes.cuts import find_cuts
from nvshare.telemetry.ceilings import Ceiling

from .making import make_pod

GIB = 1 << 30
MEMORY, PRIORITY, ALLOCATION = (
    f"nvshare.com/gpu-{name}" for name in ("memory-limit", "priority", "allocation")
)
SETTING = "the GPU's setting"
CEILING = Ceiling(memory_limit=4 * GIB, priority="normal", allocation=("managed",))


def cuts(annotations: dict[str, str]) -> list[str]:
    pod = make_pod(annotations=annotations)
    return [str(one) for one in find_cuts(pod, read_orders(pod, None), CEILING)]


def test_each_annotation_that_is_cut_says_what_is_in_force() -> None:
    asked = {MEMORY: "8Gi", PRIORITY: "high", ALLOCATION: "native"}
    assert cuts(asked) == [
        f'{MEMORY}: "8Gi" is beyond the ceiling of namespace team: 4Gi is in force',
        f'{PRIORITY}: "high" is beyond the ceiling of namespace team: normal is in force',
        f'{ALLOCATION}: "native" is beyond the ceiling of namespace team: {SETTING} is in force',
    ]


def test_one_of_a_container_is_named_as_it_was_written() -> None:
    said = cuts({MEMORY: "1Gi", f"{MEMORY}.main": "8Gi"})
    assert [one.partition(":")[0] for one in said] == [f"{MEMORY}.main"]


def test_what_is_within_the_ceiling_is_not_mentioned() -> None:
    assert cuts({MEMORY: "4Gi", PRIORITY: "low", ALLOCATION: "managed"}) == []
    # A mistake is a mistake, whatever the ceiling is.
    assert cuts({MEMORY: "8GB"}) == []
