"""No program gets more than a ceiling allows, whatever it requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvshare.settings import ClientLimits, Orders
from nvshare.telemetry.ceilings import NO_CEILING, Ceiling, Ceilings

GIB = 1 << 30
RANKS = (None, "low", "normal", "high")

amounts = st.none() | st.integers(1, 1 << 40)
percents = st.none() | st.integers(1, 100)
priorities = st.sampled_from(RANKS)
limits = st.builds(
    ClientLimits,
    memory_limit=amounts,
    compute_percent=percents,
    burst=st.sampled_from([None, True]),
    priority=priorities,
)
ceilings = st.builds(
    Ceiling,
    memory_limit=amounts,
    compute_percent=percents,
    burst=st.booleans(),
    priority=priorities,
)


def is_within(limits: ClientLimits, ceiling: Ceiling) -> bool:
    """Whether limits allow nothing that the ceiling does not."""
    for name in ("memory_limit", "compute_percent"):
        most, value = getattr(ceiling, name), getattr(limits, name)
        if most is not None and (value is None or value > most):
            return False
    if ceiling.compute_percent is not None and limits.burst and not ceiling.burst:
        return False
    most = RANKS.index(ceiling.priority or "high")
    return RANKS.index(limits.priority or "normal") <= most


@given(limits, ceilings)
def test_what_is_cut_is_within_and_what_is_within_is_not_cut(
    limits: ClientLimits, ceiling: Ceiling
) -> None:
    cut = ceiling.cut(limits)
    assert is_within(cut, ceiling)
    assert ceiling.cut(cut) == cut
    assert (cut == limits) == is_within(limits, ceiling)


@given(limits, ceilings, ceilings)
def test_the_laxer_of_two_allows_what_either_allows(
    limits: ClientLimits, one: Ceiling, other: Ceiling
) -> None:
    if is_within(limits, one) or is_within(limits, other):
        assert is_within(limits, one.laxer(other))


def test_a_namespace_goes_over_the_node_field_by_field_and_can_lift() -> None:
    node = Ceiling.model_validate({"memory_limit": "8Gi", "compute_percent": 50})
    special = Ceiling.model_validate({"memory_limit": "none", "priority": "normal"})
    all_of_them = Ceilings(node, {"team": special})
    assert all_of_them.of("team") == Ceiling(compute_percent=50, priority="normal")
    assert all_of_them.of("other") == node
    # A pod that is not known yet may have what any pod could have, and no more.
    assert all_of_them.of_unknown() == Ceiling(compute_percent=50)


def test_what_is_cut_is_named() -> None:
    ceiling = Ceiling(memory_limit=4 * GIB, priority="normal", allocation=("managed",))
    asked = Orders(memory_limit=8 * GIB, priority="high", allocation="native", compute_percent=9)
    assert ceiling.cuts(asked) == {
        "memory_limit": "4Gi",
        "priority": "normal",
        "allocation": "the GPU's setting",
    }
    # Defaults are cut, too, but there is no request to report that on.
    assert ceiling.cuts(Orders()) == {}
    assert ceiling.cut(ClientLimits()) == ClientLimits(memory_limit=4 * GIB)


@pytest.mark.parametrize(("way", "allowed"), [("managed", True), ("native", False)])
def test_ways_of_allocating_are_allowed_by_name(way: str, allowed: bool) -> None:
    ceiling = Ceiling(allocation=("managed", "explicit"))
    assert ceiling.allows(way) is allowed  # type: ignore[arg-type]
    assert NO_CEILING.allows(way)  # type: ignore[arg-type]
