from nvshare.kubernetes.admission import Grip, Promise, Tenant, holdings, least_promise
from nvshare.kubernetes.annotations import read_orders
from nvshare.kubernetes.placement import Card, Holding

from .making import make_pod

GIB = 1 << 30
RESOURCE = "nvshare.com/gpu"
CARDS = [Card(0, "GPU-a", 16 * GIB)]


def tenant(name: str, memory: str | None = None, gpus: int = 1, phase: str = "Pending") -> Tenant:
    pod = make_pod(
        name,
        annotations={"nvshare.com/gpu-memory-limit": memory} if memory else {},
        containers={"main": {RESOURCE: str(gpus)}, "side": {}},
        phase=phase,
    )
    return Tenant(pod, read_orders(pod, None))


def grip(pod: str, device: str = "GPU-a__0") -> Grip:
    return Grip("team", pod, "main", device)


def test_a_pod_holds_as_much_as_its_limit_and_without_one_all_there_is() -> None:
    tenants = [tenant("small", "2Gi"), tenant("free")]
    held = holdings(CARDS, [grip("small"), grip("free"), grip("unheard-of")], tenants)
    assert held == [
        Holding("team/small", "GPU-a", 2 * GIB),
        Holding("team/free", "GPU-a", 16 * GIB),
        Holding("team/unheard-of", "GPU-a", 16 * GIB),
    ]


def test_a_pod_that_is_over_holds_nothing() -> None:
    assert holdings(CARDS, [grip("done")], [tenant("done", phase="Succeeded")]) == []


def test_the_one_who_waits_is_the_one_who_is_served() -> None:
    tenants = [tenant("served", "2Gi", phase="Running"), tenant("waits", "6Gi")]
    assert least_promise(tenants, [grip("served")], RESOURCE, 1) == Promise(6 * GIB)


def test_of_several_who_wait_the_least_promise_counts() -> None:
    tenants = [tenant("a", "6Gi"), tenant("b", "3Gi"), tenant("c"), tenant("d", "1Gi", gpus=2)]
    assert least_promise(tenants, [], RESOURCE, 1) == Promise(3 * GIB)
    assert least_promise(tenants, [], RESOURCE, 2) == Promise(1 * GIB)


def test_who_waits_without_a_limit_is_promised_everything() -> None:
    tenants = [tenant("a"), tenant("over", "1Gi", phase="Failed")]
    assert least_promise(tenants, [], RESOURCE, 1) == Promise(None)


def test_nobody_is_known_to_wait() -> None:
    assert least_promise([tenant("served", "1Gi")], [grip("served")], RESOURCE, 1) is None
    assert least_promise([tenant("other", gpus=2)], [], RESOURCE, 1) is None
