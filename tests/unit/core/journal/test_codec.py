from dataclasses import dataclass, field
from enum import Enum

import pytest

from nvshare.core.journal.codec import from_json, to_json


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Inner:
    number: int = 0


@dataclass(frozen=True)
class Outer:
    name: str
    share: float
    colour: Colour = Colour.RED
    inner: Inner = Inner()
    maybe: float | None = None
    several: tuple[Inner, ...] = ()
    by_colour: dict[Colour, float] = field(default_factory=dict)


FULL = Outer("x", 0.1, Colour.BLUE, Inner(3), 2.5, (Inner(1), Inner(2)), {Colour.RED: 1.5})


@pytest.mark.parametrize("value", [FULL, Outer("x", 1.0)])
def test_what_comes_back_is_what_went_in(value: Outer) -> None:
    assert from_json(Outer, to_json(value)) == value


def test_defaults_are_left_out() -> None:
    assert to_json(Outer("x", 1.0, inner=Inner(3))) == {
        "name": "x",
        "share": 1.0,
        "inner": {"number": 3},
    }


def test_a_whole_number_may_stand_for_a_float() -> None:
    assert from_json(Outer, {"name": "x", "share": 1}) == Outer("x", 1.0)


def test_an_unknown_field_is_named() -> None:
    with pytest.raises(ValueError, match="Inner has no field size"):
        from_json(Outer, {"name": "x", "share": 1, "inner": {"size": 1}})


def test_a_missing_field_is_an_error() -> None:
    with pytest.raises(TypeError, match="share"):
        from_json(Outer, {"name": "x"})
