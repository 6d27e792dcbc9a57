from typing import Annotated, Any

import pytest
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from nvshare.validation import describe


def grumble(value: Any) -> Any:
    if value == "bad":
        raise ValueError("this is bad")
    return value


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    number: int | Annotated[str, Field(pattern="^auto$")] = 1
    word: Annotated[str, BeforeValidator(grumble)] = ""


class Outer(BaseModel):
    inner: Inner
    needed: int


@pytest.mark.parametrize(
    ("values", "lines"),
    [
        ({"inner": {}}, ["needed: is missing"]),
        ({"inner": {"colour": 1}, "needed": 1}, ["inner.colour: there is no such field"]),
        ({"inner": {"word": "bad"}, "needed": 1}, ["inner.word: this is bad"]),
        ({"inner": {}, "needed": "x"}, ["needed: must be a valid integer"]),
    ],
)
def test_every_line_names_its_field(values: dict[str, Any], lines: list[str]) -> None:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(values)
    said = describe(caught.value)
    assert len(said) == len(lines)
    assert all(one.startswith(line) for one, line in zip(said, lines, strict=True))
