"""Which pods get which GPUs, with the real kubelet."""

from collections import Counter

from nvshare.lab.emulator.emulated_node import find
from nvshare.lab.emulator.fault import set_fault

from .cluster.node import NAME
from .lab import RESOURCE, Lab

SLEEP = ("sleep", "infinity")


def gpu_of(lab: Lab, name: str) -> str:
    """Wait for a pod; return its only GPU."""
    lab.until_phase(name, "Running")
    (gpu,) = lab.gpus_of(name)
    return gpu


def spread(lab: Lab) -> dict[str, str]:
    """Start four pods at once; return the GPU of each."""
    names = [f"pod-{number}" for number in range(4)]
    for name in names:
        lab.start_pod(name, *SLEEP)
    return {name: gpu_of(lab, name) for name in names}


def test_four_pods_are_two_on_each_gpu_every_time_they_come(lab: Lab) -> None:
    for _ in range(10):
        assert sorted(Counter(spread(lab).values()).values()) == [2, 2]
        lab.delete_pods()


def test_pods_stay_two_on_each_gpu_when_one_is_deleted_and_created(lab: Lab) -> None:
    gpus = spread(lab)
    for name in list(gpus):
        lab.kubectl("delete", "pod", name, "--wait=true")
        lab.start_pod(name, *SLEEP)
        gpus[name] = gpu_of(lab, name)
        assert sorted(Counter(gpus.values()).values()) == [2, 2]


def test_a_pod_that_asks_for_two_gets_two_different_ones(lab: Lab) -> None:
    lab.start_pod("pair", *SLEEP, gpus=2)
    lab.until_phase("pair", "Running")
    assert sorted(lab.gpus_of("pair")) == sorted(gpu.uuid for gpu in lab.status().devices)


def test_who_asks_for_more_than_there_is_waits_and_is_told_why(lab: Lab) -> None:
    lab.start_pod("greedy", *SLEEP, gpus=21)
    lab.until(
        lambda: any(f"Insufficient {RESOURCE}" in one["message"] for one in lab.events("greedy")),
        "the reason",
    )
    assert lab.phase("greedy") == "Pending"


def test_a_broken_gpu_gets_no_pods_until_it_is_mended(lab: Lab) -> None:
    node = find(lab.emulated.parent, NAME)
    broken, well = (gpu.uuid for gpu in lab.status().devices)
    set_fault(node, 0, 48, needs_reset=True)
    try:
        lab.until(lambda: lab.allocatable() == 10, "a broken GPU")
        lab.start_pod("careful", *SLEEP)
        lab.until_phase("careful", "Running")
        assert lab.gpus_of("careful") == [well]
    finally:
        set_fault(node, 0, 0, needs_reset=False)
    lab.until(lambda: lab.allocatable() == 20, "a mended GPU")
    lab.start_pod("next", *SLEEP)
    lab.until_phase("next", "Running")
    assert lab.gpus_of("next") == [broken]
