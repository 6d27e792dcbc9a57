"""Types of values that users and files write: how they are parsed, and what they may be.

The settings and limits themselves are in nvshare.settings and nvshare.limits.
"""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from nvshare.errors import BadInputError
from nvshare.quantity import parse_quantity
from nvshare.validation import plain


def _quantity(value: Any) -> Any:
    if not isinstance(value, str) or value == "auto":
        return value
    try:
        return parse_quantity(value)
    except BadInputError as error:
        raise ValueError(plain(error.in_a_line)) from error


def _number(value: Any) -> Any:
    """Parse a number, which is text in the environment and on the command line."""
    if isinstance(value, str) and value != "auto":
        try:
            return float(value)
        except ValueError:
            raise ValueError(plain(f'"{value}" is not a number')) from None
    return value


def _whole(value: Any) -> Any:
    number = _number(value)
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _seconds_or_off(value: Any) -> Any:
    return 0.0 if value == "off" else _number(value)


def _none(value: Any) -> Any:
    """Turn "none" into None: TOML has no null."""
    return None if value == "none" else value


def _something(value: int) -> int:
    if value == 0:
        raise ValueError("0 would leave nothing to allocate; for no limit, write none")
    return value


def _amount(pattern: str) -> WithJsonSchema:
    """Return the schema of an amount for the control API: a number, or text."""
    number = {"type": "integer", "minimum": 0, "exclusiveMaximum": 2**63}
    return WithJsonSchema({"anyOf": [number, {"type": "string", "pattern": pattern}]}, "validation")


_AMOUNT = r"[0-9]+(\.[0-9]{1,9})?([kMGTP]|[KMGTP]i)?"
Auto: TypeAlias = Literal["auto"]
Bytes: TypeAlias = Annotated[
    int, Field(ge=0, lt=2**63), BeforeValidator(_quantity), _amount(f"^{_AMOUNT}$")
]
SomeBytes: TypeAlias = Annotated[Bytes, AfterValidator(_something)]
BytesOrAuto: TypeAlias = Annotated[
    Annotated[int, Field(ge=0, lt=2**63)] | Auto,
    BeforeValidator(_quantity),
    _amount(f"^(auto|{_AMOUNT})$"),
]
# Thirty years, if they are seconds: results computed from them stay finite.
_MOST = 1e9
Positive: TypeAlias = Annotated[float, Field(gt=0, le=_MOST), BeforeValidator(_number)]
PositiveOrAuto: TypeAlias = Annotated[
    Annotated[float, Field(gt=0, le=_MOST)] | Auto, BeforeValidator(_number)
]
# Bytes per second; an emulated GPU may be a million times as fast as real time.
NotNegative: TypeAlias = Annotated[float, Field(ge=0, le=_MOST), BeforeValidator(_number)]
# For numbers that may come as text.
NUMBER = BeforeValidator(_number)
WHOLE = BeforeValidator(_whole)
# For values that the word "none" may lift.
NONE = BeforeValidator(_none)
# 0: never.
SecondsOrOff: TypeAlias = Annotated[float, Field(ge=0, le=_MOST), BeforeValidator(_seconds_or_off)]
AllocationName: TypeAlias = Literal["managed", "explicit", "native", "auto"]


class SettingsModel(BaseModel):
    """Values that people write: frozen, and a field that does not exist is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
