"""limits.toml as objects, checked, and what it adds to the other tables. Writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from protocol.errors import TableError
from protocol.toml import read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

KINDS = ("amount", "number", "permission", "choice")
# The frames that carry limits, by their keys in the table: the limits that a program was started
# with, and those in force.
FRAMES = {"hello": "HELLO", "limits": "LIMITS"}
FLAGS = "LimitFlags"

_ALWAYS = {"kind", "label", "meaning", "option", "help_run", "help_limit", "page", "variable"}
_SOMETIMES = {"core", "key", "prompt", "scenario", "annotation"}
_OF_KIND = {
    "amount": {"metavar", "ceiling", "field"},
    "number": {"metavar", "ceiling", "field", "least", "most", "unit"},
    "permission": {"beyond", "flags"},
    "choice": {"choices", "default", "enum", "ceiling", "flags"},
}


@dataclass(frozen=True)
class Limit:
    """One limit. Fields that its kind does not have are empty."""

    name: str
    kind: str
    core: str
    label: str
    meaning: str
    option: str
    metavar: str
    help_run: str
    help_limit: str
    key: str
    prompt: str
    page: Mapping[str, str]
    scenario: str
    ceiling: str
    variable: Mapping[str, str]
    annotation: Mapping[str, str]
    field: Mapping[str, Any]
    # The bits of LimitFlags, by meaning.
    flags: Mapping[str, Mapping[str, Any]]
    least: int = 1
    most: int = 0
    unit: str = ""
    beyond: str = ""
    choices: tuple[str, ...] = ()
    default: str = ""
    enum: str = ""

    @property
    def values(self) -> str:
        """Its possible values in words: the same in C, in Python and in the documentation."""
        if self.kind == "amount":
            return "an amount of memory such as 4Gi or 1500Mi"
        if self.kind == "number":
            return f"a number from {self.least} to {self.most}"
        if self.kind == "permission":
            return "0 or 1"
        return f"{', '.join(self.choices[:-1])} or {self.choices[-1]}"

    @property
    def variable_type(self) -> str:
        """The type of its variable, as environment.toml calls it."""
        number = "percent" if self.unit == "%" else "number"
        return {"amount": "quantity", "number": number, "permission": "flag"}.get(
            self.kind, self.kind
        )

    @property
    def variable_default(self) -> str:
        """The value of its variable where that is not set."""
        return "0" if self.kind == "permission" else self.default


def read_limits(path: Path) -> tuple[Limit, ...]:
    """Read and check the table; no limits where there is no such file."""
    if not path.is_file():
        return ()
    table = read_toml(path)
    limits = tuple(_limit(name, entry) for name, entry in table.items())
    for limit in limits:
        if limit.beyond and limit.beyond not in table:
            raise TableError(f"{limit.name}: there is no limit {limit.beyond}")
    for what in ("option", "key"):
        known = [value for limit in limits if (value := getattr(limit, what))]
        if len(set(known)) != len(known):
            raise TableError(f"two limits have the same {what}")
    return limits


def add_to_frames(table: dict[str, Any], limits: tuple[Limit, ...]) -> None:
    """Insert the fields and flags of limits into the table of frames."""
    for key, frame in FRAMES.items():
        if frame in table["frames"]:
            _place(table["frames"][frame]["fields"], limits, key)
    if FLAGS in table["flags"]:
        values = table["flags"][FLAGS]["values"]
        values += [dict(flag) for limit in limits for flag in limit.flags.values()]
        values.sort(key=lambda flag: int(flag["value"]))


def _place(rows: list[dict[str, Any]], limits: tuple[Limit, ...], key: str) -> None:
    """Insert the fields of limits among those of a frame.

    In ascending order of place, so that each has the right place once all are inserted.
    """
    placed = [limit for limit in limits if key in limit.field]
    places = {limit.name: int(limit.field[key]["place"]) for limit in placed}
    for limit in sorted(placed, key=lambda one: places[one.name]):
        place = places[limit.name]
        if place > len(rows) or list(places.values()).count(place) > 1:
            raise TableError(f"{limit.name}: {place} is no free place of {FRAMES[key]}")
        rows.insert(place, _row(limit, key))


def add_to_environment(table: dict[str, Any], limits: tuple[Limit, ...]) -> dict[str, Any]:
    """Return the table of variables with those of limits, inserted where ``limits_before`` says."""
    before = table.pop("limits_before", None)
    found: dict[str, Any] = {}
    for name, entry in table.items():
        if name == before:
            found.update((limit.variable["name"], _variable(limit)) for limit in limits)
        found[name] = entry
    return found


def _row(limit: Limit, key: str) -> dict[str, Any]:
    row = {
        "name": limit.name,
        "type": limit.field["type"],
        "range": limit.field["range"],
        "meaning": limit.field[key]["meaning"],
    }
    return {**row, "optional": True} if limit.field.get("optional") else row


def _variable(limit: Limit) -> dict[str, Any]:
    return {
        "type": limit.variable_type,
        "choices": list(limit.choices),
        "default": limit.variable_default,
        "readers": ["library"],
        "meaning": limit.variable["meaning"],
    }


def _limit(name: str, entry: dict[str, Any]) -> Limit:
    kind = entry.get("kind")
    if kind not in KINDS:
        raise TableError(f"{name}: kind is one of {KINDS}")
    needed = _ALWAYS | (_OF_KIND[kind] - {"unit"})
    if missing := sorted(needed - set(entry)):
        raise TableError(f"{name}: lacks {', '.join(missing)}")
    if strange := sorted(set(entry) - needed - _SOMETIMES - _OF_KIND[kind]):
        raise TableError(f"{name}: {kind} has no {', '.join(strange)}")
    if ("key" in entry) != ("prompt" in entry):
        raise TableError(f"{name}: a key needs a prompt, and a prompt a key")
    empty: dict[str, Any] = {
        "core": name,
        **dict.fromkeys(("metavar", "key", "prompt", "scenario", "ceiling"), ""),
        **{part: {} for part in ("annotation", "field", "flags")},
    }
    limit = Limit(name=name, **{**empty, **entry, "choices": tuple(entry.get("choices", ()))})
    _check(limit)
    return limit


def _check(limit: Limit) -> None:
    name = limit.name
    if limit.kind == "number" and not 0 < limit.least <= limit.most:
        raise TableError(f"{name}: no number is from least to most; 0 means that there is no limit")
    if limit.kind == "choice":
        if limit.default not in limit.choices:
            raise TableError(f"{name}: the default is not among the choices")
        if set(limit.flags) != set(limit.choices) - {limit.default}:
            raise TableError(f"{name}: every choice but the default has a flag")
    if limit.kind == "permission" and set(limit.flags) != {name}:
        raise TableError(f"{name}: its flag is called {name}")
    if limit.field and "hello" not in limit.field:
        raise TableError(f"{name}: it has no place in HELLO")
