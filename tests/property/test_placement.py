"""Wherever pods come from and whenever they go, the next one goes to the least used GPU."""

from collections import Counter
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from nvshare.kubernetes.placement import (
    NO_BOUND,
    Bound,
    Card,
    Holding,
    device_id,
    gpu_of,
    loads,
    prefer,
    refusal,
)

GIB = 1 << 30


class Cluster(RuleBasedStateMachine):
    """A node whose kubelet always follows the preference and reports truly which pod has what."""

    def __init__(self) -> None:
        super().__init__()
        self.cards = [Card(index, f"GPU-{index}", 16 * GIB) for index in range(3)]
        self.devices = {device_id(card.uuid, n) for card in self.cards for n in range(4)}
        self.pods: dict[str, tuple[list[str], int]] = {}
        self.number = 0

    def holdings(self) -> list[Holding]:
        return [
            Holding(pod, gpu_of(device), promise)
            for pod, (devices, promise) in self.pods.items()
            for device in devices
        ]

    def free(self) -> set[str]:
        return self.devices - {one for devices, _ in self.pods.values() for one in devices}

    def pods_of(self, uuid: str) -> int:
        return sum(uuid in map(gpu_of, devices) for devices, _ in self.pods.values())

    @precondition(lambda self: self.free())
    @rule(size=st.integers(1, 4), promise=st.integers(0, 16))
    def come(self, size: int, promise: int) -> None:
        free = self.free()
        available = {gpu_of(device) for device in free}
        fewest = min(self.pods_of(uuid) for uuid in available)
        chosen = prefer(self.cards, self.holdings(), free, [], size, promise=promise * GIB)
        assert len(chosen) == len(set(chosen)) == min(size, len(free))
        assert set(chosen) <= free
        assert self.pods_of(gpu_of(chosen[0])) == fewest
        # As many different GPUs as there are, up to the number of devices.
        assert len({gpu_of(device) for device in chosen}) == min(size, len(available))
        self.pods[str(self.number)] = (chosen, promise * GIB)
        self.number += 1

    @precondition(lambda self: self.pods)
    @rule(which=st.randoms(use_true_random=False))
    def go(self, which: Random) -> None:
        del self.pods[which.choice(sorted(self.pods))]

    @invariant()
    def nobody_shares_a_device(self) -> None:
        counts = Counter(one for devices, _ in self.pods.values() for one in devices)
        assert all(count == 1 for count in counts.values())


Cluster.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestCluster = Cluster.TestCase


@given(
    promises=st.lists(st.integers(0, 20), max_size=30),
    ratio=st.none() | st.floats(0.1, 4, allow_nan=False),
)
def test_no_gpu_ever_promises_more_than_it_may(promises: list[int], ratio: float | None) -> None:
    cards = [Card(index, f"GPU-{index}", 16 * GIB) for index in range(2)]
    bound = Bound(ratio) if ratio is not None else NO_BOUND
    held: list[Holding] = []
    for number, gib in enumerate(promises):
        free = {device_id(card.uuid, number) for card in cards}
        chosen = prefer(cards, held, free, [], 1, promise=gib * GIB, bound=bound)
        if refusal(cards, held, chosen, gib * GIB, bound) is None:
            held.append(Holding(str(number), gpu_of(chosen[0]), gib * GIB))
        else:
            # No pod is refused while there is room for it anywhere.
            load = loads(cards, held)
            assert not any(bound.holds(card, load[card.uuid], gib * GIB) for card in cards)
    if ratio is not None:
        assert all(load.promised <= 16 * GIB * ratio for load in loads(cards, held).values())
