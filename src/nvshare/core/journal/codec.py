"""Dataclasses to JSON and back, by their annotations. Knows no particular class.

Fields that have their default value are left out, so that a journal can be written by hand.
"""

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


def to_json(value: Any) -> Any:
    """Return a value as JSON types."""
    if is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: to_json(content)
            for field in fields(value)
            if (content := getattr(value, field.name)) != _default(field)
        }
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    if isinstance(value, frozenset):
        return sorted(map(to_json, value))
    if isinstance(value, dict):
        return {to_json(key): to_json(item) for key, item in value.items()}
    return value


def from_json(kind: type[T], data: Any) -> T:
    """Return the value of this type that JSON data stands for."""
    return cast("T", _decode(kind, data))


def _decode(kind: Any, data: Any) -> Any:
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return None if data is None else _decode(_without_none(kind), data)
    if origin in (tuple, frozenset):
        return origin(_decode(get_args(kind)[0], item) for item in data)
    if origin is dict:
        key, item = get_args(kind)
        return {_decode(key, name): _decode(item, content) for name, content in data.items()}
    if is_dataclass(kind):
        return _decode_fields(kind, data)
    # Enums and numbers. In a file written by hand, a float may be a whole number.
    return kind(data)


def _decode_fields(kind: Any, data: Mapping[str, Any]) -> Any:
    hints = _hints(kind)
    if unknown := sorted(set(data) - set(hints)):
        raise ValueError(f"{kind.__name__} has no field {', '.join(unknown)}")
    return kind(**{name: _decode(hints[name], content) for name, content in data.items()})


def _without_none(kind: Any) -> Any:
    (only,) = (arg for arg in get_args(kind) if arg is not type(None))
    return only


def _default(field: "Field[Any]") -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
