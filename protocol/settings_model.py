"""settings.toml as objects, checked. Writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from protocol.errors import TableError
from protocol.toml import read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PLACES = ("gpu", "node", "lab", "core")
CLOCKS = ("gpu", "real")
WORDS = ("auto", "off")
# For each kind, what an entry must have and what it may have.
_OF_KIND: dict[str, tuple[set[str], set[str]]] = {
    "choice": ({"choices", "default"}, {"enum"}),
    "policy": ({"default"}, set()),
    "seconds": ({"clock"}, {"default", "word", "positive", "most"}),
    "bytes": ({"word"}, set()),
    "rate": ({"default"}, set()),
    "switch": ({"default"}, set()),
}


@dataclass(frozen=True)
class Setting:
    """One setting. Fields that its kind does not have are empty."""

    name: str
    place: str
    kind: str
    brief: str
    meaning: str = ""
    core: bool = False
    # The words that can be chosen, each with what it means.
    choices: Mapping[str, str] | None = None
    enum: str = ""
    default: Any = None
    word: str = ""
    clock: str = ""
    positive: bool = False
    most: float | None = None

    @property
    def value(self) -> Any:
        """The default as users write it."""
        return "auto" if self.word == "auto" else self.default


@dataclass(frozen=True)
class Settings:
    """The whole table."""

    all: tuple[Setting, ...]
    # What to do instead of setting one that there was once.
    removed: Mapping[str, str]

    def of(self, place: str) -> tuple[Setting, ...]:
        """Return those of a place."""
        return tuple(one for one in self.all if one.place == place)

    def of_core(self) -> tuple[Setting, ...]:
        """Return those that the core has."""
        return tuple(one for one in self.all if one.core)


def read_settings(path: Path) -> Settings:
    """Read and check the table."""
    table = read_toml(path)
    removed = table.pop("removed", {})
    settings = Settings(tuple(_setting(*item) for item in table.items()), removed)
    for one in (*settings.of("gpu"), *settings.of("node")):
        if one.name in removed:
            raise TableError(f"{one.name}: it is there, and was removed")
    return settings


def _setting(name: str, entry: dict[str, Any]) -> Setting:
    kind = entry.get("kind")
    if kind not in _OF_KIND:
        raise TableError(f"{name}: kind is one of {', '.join(_OF_KIND)}")
    needed, more = _OF_KIND[kind]
    needed = needed | {"place", "kind", "brief"}
    if entry.get("place") != "core":
        needed |= {"meaning"}
    if missing := sorted(needed - set(entry)):
        raise TableError(f"{name}: lacks {', '.join(missing)}")
    if strange := sorted(set(entry) - needed - more - {"core"}):
        raise TableError(f"{name}: {kind} has no {', '.join(strange)}")
    setting = Setting(name=name, **entry)
    _check(setting)
    return setting


def _check(setting: Setting) -> None:
    name = setting.name
    for what, known in (("place", PLACES), ("clock", ("", *CLOCKS)), ("word", ("", *WORDS))):
        if getattr(setting, what) not in known:
            raise TableError(f"{name}: {what} is one of {', '.join(filter(None, known))}")
    if setting.choices is not None and setting.default not in setting.choices:
        raise TableError(f"{name}: the default is not among the choices")
    if (setting.word == "auto") is not (setting.default is None):
        raise TableError(f"{name}: it has a default, unless its word is auto")
    if setting.word == "off" and setting.positive:
        raise TableError(f"{name}: off stands for 0 seconds")
    if setting.kind == "bytes" and (setting.word != "auto" or setting.core):
        raise TableError(f"{name}: the default of bytes is auto, and the core has none")
    if setting.core and setting.kind == "choice" and not setting.enum:
        raise TableError(f"{name}: the core needs an enumeration")
    if (setting.place == "core") is not (setting.kind == "rate"):
        raise TableError(f"{name}: what the core alone has is a rate")
