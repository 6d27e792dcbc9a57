import pytest

from nvshare.kubernetes.placement import (
    Bound,
    Card,
    Holding,
    Load,
    device_id,
    gpu_of,
    loads,
    prefer,
    refusal,
)

GIB = 1 << 30
CARDS = [Card(0, "GPU-a", 16 * GIB), Card(1, "GPU-b", 16 * GIB)]
ALL = [device_id(card.uuid, number) for card in CARDS for number in range(3)]


def gpus(devices: list[str]) -> list[str]:
    return [gpu_of(device) for device in devices]


def test_names_of_virtual_devices() -> None:
    assert device_id("GPU-1__2", 3) == "GPU-1__2__3"
    assert gpu_of("GPU-1__2__3") == "GPU-1__2"


def test_a_pod_counts_once_on_a_gpu_however_many_devices_it_holds() -> None:
    holdings = [
        Holding("a/p", "GPU-a", 2),
        Holding("a/p", "GPU-a", 5),
        Holding("a/q", "GPU-a", 1),
        Holding("a/q", "GPU-gone", 1),
    ]
    assert loads(CARDS, holdings) == {"GPU-a": Load(2, 6), "GPU-b": Load(0, 0)}


def test_the_first_pod_goes_to_the_first_gpu() -> None:
    assert prefer(CARDS, [], ALL, [], 1) == ["GPU-a__0"]


def test_the_gpu_with_fewer_pods_comes_first_whatever_is_promised() -> None:
    holdings = [Holding("p", "GPU-a", 1), Holding("q", "GPU-a", 1), Holding("r", "GPU-b", 16 * GIB)]
    assert gpus(prefer(CARDS, holdings, ALL, [], 1)) == ["GPU-b"]


def test_among_gpus_with_as_many_pods_less_promised_memory_comes_first() -> None:
    holdings = [Holding("p", "GPU-a", 8 * GIB), Holding("q", "GPU-b", 4 * GIB)]
    assert gpus(prefer(CARDS, holdings, ALL, [], 1)) == ["GPU-b"]


def test_two_devices_are_of_two_gpus() -> None:
    assert gpus(prefer(CARDS, [], ALL, [], 2)) == ["GPU-a", "GPU-b"]
    crowded = [Holding(str(number), "GPU-b", 0) for number in range(2)]
    assert sorted(gpus(prefer(CARDS, crowded, ALL, [], 2))) == ["GPU-a", "GPU-b"]


def test_three_devices_of_two_gpus_are_spread_as_far_as_possible() -> None:
    assert gpus(prefer(CARDS, [], ALL, [], 3)) == ["GPU-a", "GPU-b", "GPU-a"]


def test_what_has_to_be_in_is_in_and_what_is_not_available_is_not() -> None:
    chosen = prefer(CARDS, [], ["GPU-a__1", "GPU-a__2", "GPU-b__2"], ["GPU-a__2"], 2)
    assert chosen == ["GPU-a__2", "GPU-b__2"]


def test_too_few_devices_are_all_given_and_strange_ones_never() -> None:
    assert prefer(CARDS, [], ["GPU-a__0", "GPU-x__0", "odd"], [], 5) == ["GPU-a__0"]


def test_numbers_are_counted_and_not_spelt() -> None:
    assert prefer(CARDS, [], ["GPU-a__10", "GPU-a__9"], [], 1) == ["GPU-a__9"]


def test_a_gpu_that_may_not_promise_as_much_comes_last() -> None:
    holdings = [Holding("p", "GPU-b", 1 * GIB), Holding("q", "GPU-b", 1 * GIB)]
    full = [*holdings, Holding("r", "GPU-a", 15 * GIB)]
    bound = Bound(1.0)
    assert gpus(prefer(CARDS, full, ALL, [], 1, promise=1 * GIB, bound=bound)) == ["GPU-a"]
    assert gpus(prefer(CARDS, full, ALL, [], 1, promise=2 * GIB, bound=bound)) == ["GPU-b"]


def test_a_promise_within_the_bound_is_made() -> None:
    held = [Holding("p", "GPU-a", 8 * GIB)]
    assert refusal(CARDS, held, ["GPU-a__1"], 8 * GIB, Bound(1.0)) is None
    assert refusal(CARDS, held, ["GPU-a__1"], 100 * GIB, Bound(None)) is None
    assert refusal(CARDS, held, ["GPU-b__1"], 16 * GIB, Bound(1.0)) is None


@pytest.mark.parametrize(
    ("promise", "ratio", "text"),
    [
        (8 * GIB + 1, 1.0, "GPU 0 cannot promise another 8.0Gi: 8Gi of 16Gi are promised already"),
        (None, 1.25, "GPU 0 cannot promise another 16Gi: 8Gi of 20Gi are promised already"),
    ],
)
def test_a_refusal_says_why_and_what_to_do(promise: int | None, ratio: float, text: str) -> None:
    held = [Holding("p", "GPU-a", 8 * GIB)]
    why = refusal(CARDS, held, ["GPU-b__0", "GPU-a__1"], promise, Bound(ratio))
    assert why is not None
    assert text in why
    assert f"oversubscription ratio of {ratio:g}" in why
    assert "Lower the memory limit" in why
