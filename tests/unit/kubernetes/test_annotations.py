import pytest

from nvshare.kubernetes.annotations import read_orders
from nvshare.settings import Orders

from .making import make_pod

MEMORY, CORE, PRIORITY, ALLOCATION = (
    f"nvshare.com/gpu-{name}" for name in ("memory-limit", "core-limit", "priority", "allocation")
)
GIB = 1 << 30
MAIN, SIDE = "a" * 64, "b" * 64


def test_all_three() -> None:
    pod = make_pod(annotations={MEMORY: "4Gi", CORE: "40", PRIORITY: "low"})
    reading = read_orders(pod, None)
    assert reading.complaints == ()
    assert reading.orders.orders == Orders(memory_limit=4 * GIB, compute_percent=40, priority="low")
    assert (reading.orders.namespace, reading.orders.name) == ("team", "trainer")


def test_how_memory_is_allocated() -> None:
    annotations = {ALLOCATION: "auto", f"{ALLOCATION}.side": "native"}
    pod = make_pod(
        annotations=annotations,
        containers={"main": {}, "side": {}},
        ids={"main": MAIN, "side": SIDE},
    )
    orders = read_orders(pod, None).orders
    assert orders.of(MAIN).orders == Orders(allocation="auto")
    assert orders.of(SIDE).orders == Orders(allocation="native")


def test_a_container_may_have_its_own() -> None:
    pod = make_pod(
        annotations={MEMORY: "4Gi", CORE: "40", f"{MEMORY}.side": "1Gi"},
        containers={"main": {}, "side": {}},
        ids={"main": MAIN, "side": SIDE},
    )
    orders = read_orders(pod, None).orders
    assert orders.of(MAIN).orders == Orders(memory_limit=4 * GIB, compute_percent=40)
    assert orders.of(SIDE).orders == Orders(memory_limit=1 * GIB, compute_percent=40)
    assert (orders.of(MAIN).name, orders.of(SIDE).name) == ("main", "side")
    # A container that kubelet has not reported yet gets the values of its pod.
    assert orders.of("c" * 64).orders == Orders(memory_limit=4 * GIB, compute_percent=40)


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        (MEMORY, "4GB", "is not an amount of memory"),
        (MEMORY, "lots", "is not an amount of memory"),
        (MEMORY, "-4Gi", "is not an amount of memory"),
        (MEMORY, "", "is not an amount of memory"),
        (MEMORY, "0", "nothing to allocate"),
        (CORE, "0", "greater than or equal to 1"),
        (CORE, "101", "less than or equal to 100"),
        (CORE, "12.5", "valid integer"),
        (CORE, "half", "is not a number"),
        (PRIORITY, "3", "'high', 'normal' or 'low'"),
        (PRIORITY, "urgent", "'high', 'normal' or 'low'"),
        (ALLOCATION, "mixed", "'managed', 'explicit', 'native' or 'auto'"),
        (f"{MEMORY}.main", "x", "is not an amount of memory"),
        (f"{MEMORY}.absent", "1Gi", "there is no such annotation"),
        ("nvshare.com/gpu-memory", "1Gi", "there is no such annotation"),
    ],
)
def test_a_bad_value_changes_nothing_and_is_told(key: str, value: str, why: str) -> None:
    before = read_orders(make_pod(annotations={MEMORY: "4Gi", CORE: "40", PRIORITY: "low"}), None)
    pod = make_pod(annotations={MEMORY: "4Gi", CORE: "40", PRIORITY: "low", key: value})
    reading = read_orders(pod, before)
    assert reading.orders == before.orders
    assert reading.in_force == before.in_force
    (complaint,) = reading.complaints
    assert (complaint.key, complaint.value) == (key, value)
    assert why in complaint.why
    assert str(complaint).startswith(f'{key}: "{value}" changes nothing: ')


def test_a_bad_value_stays_without_effect_however_often_it_is_read() -> None:
    reading = read_orders(make_pod(annotations={MEMORY: "4Gi"}), None)
    for _ in range(3):
        reading = read_orders(make_pod(annotations={MEMORY: "?"}), reading)
    assert reading.orders.orders.memory_limit == 4 * GIB


def test_a_value_that_was_never_good_asks_for_nothing() -> None:
    assert read_orders(make_pod(annotations={MEMORY: "?"}), None).orders.orders == Orders()


def test_a_bad_value_of_a_container_leaves_it_what_the_pod_asks_for() -> None:
    pod = make_pod(annotations={MEMORY: "4Gi", f"{MEMORY}.main": "?"}, ids={"main": MAIN})
    assert read_orders(pod, None).orders.of(MAIN).orders.memory_limit == 4 * GIB


def test_an_annotation_that_is_gone_asks_for_nothing_any_more() -> None:
    before = read_orders(make_pod(annotations={MEMORY: "4Gi", CORE: "40"}), None)
    after = read_orders(make_pod(annotations={CORE: "40"}), before)
    assert after.orders.orders == Orders(compute_percent=40)
    assert after.complaints == ()


def test_other_annotations_are_none_of_our_business() -> None:
    pod = make_pod(annotations={"nvshare.com/owner": "me", "example.com/gpu-memory-limit": "?"})
    assert read_orders(pod, None).complaints == ()


# The API server writes 3000 as "3k".
HAMI = {"nvidia.com/gpumem": "3k", "nvidia.com/gpucores": "30"}


def test_what_hami_would_have_understood() -> None:
    pod = make_pod(containers={"main": HAMI, "side": {}}, ids={"main": MAIN, "side": SIDE})
    orders = read_orders(pod, None, hami=True).orders
    assert orders.of(MAIN).orders == Orders(memory_limit=3000 << 20, compute_percent=30)
    assert orders.of(SIDE).orders == Orders()
    assert read_orders(pod, None).orders.of(MAIN).orders == Orders()


def test_an_annotation_goes_over_what_is_written_in_the_way_of_hami() -> None:
    pod = make_pod(annotations={MEMORY: "1Gi"}, containers={"main": HAMI}, ids={"main": MAIN})
    orders = read_orders(pod, None, hami=True).orders.of(MAIN).orders
    assert orders == Orders(memory_limit=1 * GIB, compute_percent=30)


def test_a_share_that_hami_would_not_have_understood_either() -> None:
    pod = make_pod(containers={"main": {"nvidia.com/gpucores": "300"}}, ids={"main": MAIN})
    reading = read_orders(pod, None, hami=True)
    assert reading.orders.of(MAIN).orders == Orders()
    assert "less than or equal to 100" in reading.complaints[0].why
