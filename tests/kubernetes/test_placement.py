"""Pods and GPUs: who goes where, as kubelet really does it."""

from collections import Counter

from nvshare.emulator.fault import set_fault
from nvshare.emulator.node import find

from .cluster.node import NAME
from .lab import RESOURCE, Lab

SLEEP = ("sleep", "infinity")


def spread(lab: Lab) -> list[int]:
    """Let four pods come at once; return how many are on each GPU."""
    names = [f"pod-{number}" for number in range(4)]
    for name in names:
        lab.start_pod(name, *SLEEP)
    for name in names:
        lab.until_phase(name, "Running")
    gpus = [lab.gpus_of(name) for name in names]
    assert all(len(one) == 1 for one in gpus)
    return sorted(Counter(one[0] for one in gpus).values())


def test_four_pods_are_two_on_each_gpu_every_time_they_come(lab: Lab) -> None:
    for _ in range(10):
        assert spread(lab) == [2, 2]
        lab.delete_pods()


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
