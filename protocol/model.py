"""frames.toml and environment.toml as objects, checked, with what limits.toml adds to them.

Writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocol.errors import TableError
from protocol.limits_model import add_to_environment, add_to_frames, read_limits
from protocol.toml import read_toml

FOLDER = Path(__file__).parent
WIDTHS = {"u16": 2, "u32": 4, "u64": 8}
SENDERS = ("client", "daemon")
# A meaning is one line of a comment, in C and in Python.
_LONGEST = 93
READERS = ("library", "daemon", "cli", "emulator")


@dataclass(frozen=True)
class Value:
    """One enumerator or flag."""

    name: str
    value: int
    meaning: str


@dataclass(frozen=True)
class Values:
    """An enumeration, or a set of flags."""

    name: str
    meaning: str
    values: tuple[Value, ...]
    is_flags: bool


@dataclass(frozen=True)
class Range:
    """The range of a number, both ends included."""

    name: str
    least: int
    # None: the most that the field can hold.
    most: int | None
    meaning: str


@dataclass(frozen=True)
class Field:
    """One field of a payload."""

    name: str
    type: str
    meaning: str
    offset: int
    size: int
    values: Values | None
    # Senders may leave it out, which means 0.
    optional: bool = False
    # For a number that is neither an enumerator nor flags.
    range: Range | None = None

    @property
    def is_reserved(self) -> bool:
        """Whether it only fills space."""
        return self.name == "reserved"


@dataclass(frozen=True)
class Frame:
    """One frame, without its header."""

    name: str
    number: int
    sender: str
    meaning: str
    descriptor: bool
    fields: tuple[Field, ...]
    # The version that introduced it.
    version: int = 1

    @property
    def size(self) -> int:
        """Bytes of payload."""
        return sum(field.size for field in self.fields)

    @property
    def least_size(self) -> int:
        """Bytes of payload without the optional fields at its end, which earlier senders lack."""
        size = self.size
        for field in reversed(self.fields):
            if not (field.optional or field.is_reserved):
                break
            size = field.offset
        return size


@dataclass(frozen=True)
class Protocol:
    """All of frames.toml."""

    magic: int
    version: int
    oldest_version: int
    max_payload: int
    unasked_bytes: int
    socket_name: str
    machine_folder: str
    frames: tuple[Frame, ...]
    values: tuple[Values, ...]
    ranges: tuple[Range, ...]


@dataclass(frozen=True)
class Variable:
    """One variable of environment.toml."""

    name: str
    type: str
    choices: tuple[str, ...]
    default: str
    readers: tuple[str, ...]
    meaning: str


def read_protocol(path: Path = FOLDER / "frames.toml") -> Protocol:
    """Read and check the table of frames, with the additions of limits.toml beside it."""
    table = read_toml(path)
    add_to_frames(table, read_limits(path.with_name("limits.toml")))
    values = {
        name: _values(name, entry, is_flags=kind == "flags")
        for kind in ("enums", "flags")
        for name, entry in table[kind].items()
    }
    ranges = {name: _range(name, entry) for name, entry in table["ranges"].items()}
    named: dict[str, Values | Range] = {**values, **ranges}
    frames = tuple(_frame(name, entry, named) for name, entry in table["frames"].items())
    numbers = [frame.number for frame in frames]
    if len(set(numbers)) != len(numbers):
        raise TableError("two frames have the same number")
    if any(not table["oldest_version"] <= f.version <= table["version"] for f in frames):
        raise TableError("a frame has a version that no reader understands")
    if any(frame.size > table["max_payload"] for frame in frames):
        raise TableError("a frame is longer than max_payload")
    return Protocol(
        table["magic"],
        table["version"],
        table["oldest_version"],
        table["max_payload"],
        table["unasked_bytes"],
        table["socket_name"],
        table["machine_folder"],
        frames,
        tuple(values.values()),
        tuple(ranges.values()),
    )


def read_environment(path: Path = FOLDER / "environment.toml") -> tuple[Variable, ...]:
    """Read and check the table of variables, with the additions of limits.toml beside it."""
    limits = read_limits(path.with_name("limits.toml"))
    table = add_to_environment(read_toml(path), limits)
    return tuple(_variable(name, entry) for name, entry in table.items())


def _values(name: str, entry: dict[str, Any], *, is_flags: bool) -> Values:
    values = tuple(Value(v["name"], v["value"], v["meaning"]) for v in entry["values"])
    if is_flags and any(v.value.bit_count() != 1 for v in values):
        raise TableError(f"{name}: a flag is one bit")
    if len({v.value for v in values}) != len(values):
        raise TableError(f"{name}: two names have the same value")
    if not is_flags and [v.value for v in values] != list(range(1, len(values) + 1)):
        raise TableError(f"{name}: enumerators are numbered from 1, in order")
    return Values(name, entry["meaning"], values, is_flags)


def _range(name: str, entry: dict[str, Any]) -> Range:
    found = Range(name, entry.get("least", 0), entry.get("most"), entry["meaning"])
    if found.most is not None and not 0 <= found.least <= found.most < 1 << 64:
        raise TableError(f"{name}: no number is in this range")
    return found


def _frame(name: str, entry: dict[str, Any], named: dict[str, Values | Range]) -> Frame:
    if len(entry["meaning"]) > _LONGEST:
        raise TableError(f"{name}: the meaning has to fit on a line of {_LONGEST}")
    if entry["from"] not in SENDERS:
        raise TableError(f"{name}: from is one of {SENDERS}")
    fields: list[Field] = []
    offset = 0
    for item in entry["fields"]:
        field = _field(name, item, offset, named)
        fields.append(field)
        offset += field.size
    if offset % 8:
        raise TableError(f"{name}: {offset} bytes; frames are multiples of 8, so fill it up")
    return Frame(
        name,
        entry["number"],
        entry["from"],
        entry["meaning"],
        entry.get("descriptor", False),
        tuple(fields),
        entry.get("version", 1),
    )


def _field(
    frame: str, item: dict[str, Any], offset: int, named: dict[str, Values | Range]
) -> Field:
    kind = item["type"]
    if kind in WIDTHS:
        size = WIDTHS[kind]
        aligned = offset % size == 0
    elif kind in ("bytes", "text"):
        size = item["size"]
        aligned = True
    else:
        raise TableError(f"{frame}.{item['name']}: there is no type {kind}")
    if not aligned:
        raise TableError(f"{frame}.{item['name']}: offset {offset} is not a multiple of {size}")
    meant = named.get(item.get("enum") or item.get("flags") or item.get("range") or "")
    field = Field(
        item["name"],
        kind,
        item["meaning"],
        offset,
        size,
        meant if isinstance(meant, Values) else None,
        item.get("optional", False),
        meant if isinstance(meant, Range) else None,
    )
    if field.optional and not _may_be_zero(field):
        raise TableError(f"{frame}.{field.name}: an optional field is 0 where it is missing")
    if kind in WIDTHS and not field.is_reserved and meant is None:
        raise TableError(f"{frame}.{field.name}: a number needs a range, or a table of values")
    return field


def _may_be_zero(field: Field) -> bool:
    if field.values is not None:
        return field.values.is_flags
    return field.range is None or field.range.least == 0


def _variable(name: str, entry: dict[str, Any]) -> Variable:
    variable = Variable(
        name,
        entry["type"],
        tuple(entry.get("choices", ())),
        entry["default"],
        tuple(entry["readers"]),
        entry["meaning"],
    )
    if not set(variable.readers) <= set(READERS):
        raise TableError(f"{name}: readers are among {READERS}")
    if (variable.type == "choice") != bool(variable.choices):
        raise TableError(f"{name}: choices belong to the type choice")
    if variable.choices and variable.default not in ("", *variable.choices):
        raise TableError(f"{name}: the default is not among the choices")
    return variable
