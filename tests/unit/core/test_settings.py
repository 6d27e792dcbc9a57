from typing import Any

import pytest

from nvshare.core.settings import NO_LIMITS, Limits, Settings


@pytest.mark.parametrize(
    "field", ["turn_min", "turn_max", "batch_turn", "initial_bandwidth", "turn_seconds"]
)
def test_what_must_be_positive_is_named(field: str) -> None:
    values: dict[str, Any] = {field: 0.0}
    with pytest.raises(ValueError, match=field):
        Settings(**values)


def test_the_longest_turn_is_not_shorter_than_the_shortest() -> None:
    with pytest.raises(ValueError, match="turn_max"):
        Settings(turn_min=10, turn_max=9)


@pytest.mark.parametrize("field", ["idle_grace", "revoke_patience"])
def test_times_to_wait_are_not_negative(field: str) -> None:
    values: dict[str, Any] = {field: -1.0}
    with pytest.raises(ValueError, match=field):
        Settings(**values)


def test_a_fixed_length_may_exceed_the_longest_automatic_one() -> None:
    assert Settings().longest_turn == 300
    assert Settings(turn_seconds=20).longest_turn == 300
    assert Settings(turn_seconds=600).longest_turn == 600


def test_no_limits_is_the_default() -> None:
    assert Limits() == NO_LIMITS
