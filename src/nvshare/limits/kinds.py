"""Kinds of limits: the operations on the value of any limit.

A value is that of a field of nvshare.settings.ClientLimits. None: there is no limit.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from nvshare.errors import BadInputError
from nvshare.quantity import format_quantity, parse_quantity


@dataclass(frozen=True, kw_only=True)
class Limit(ABC):
    """One limit, as protocol/limits.toml has it. Fields that it does not need are empty."""

    # The names in JSON, in ceilings and in frames; and in the core.
    name: str
    core_name: str
    # The name for users.
    label: str
    # The option of nvshare run and nvshare limit.
    option: str
    help_run: str
    help_limit: str
    metavar: str = ""
    # The key in nvshare top.
    key: str = ""
    prompt: str = ""
    # The variable of the environment; and the annotation of pods, after nvshare.com/.
    variable: str
    annotation: str = ""
    in_scenarios: bool = False
    # The frame LIMITS has a field for it.
    is_told: bool = False

    @abstractmethod
    def tightest(self, values: Sequence[Any]) -> Any:
        """Return the common limit of processes that were started with these values."""

    @abstractmethod
    def cut(self, value: Any, ceiling: Any) -> Any:
        """Return a value cut by a ceiling. No limit at all is beyond every ceiling."""

    @abstractmethod
    def laxest(self, one: Any, other: Any) -> Any:
        """Return the looser of two ceilings."""

    @abstractmethod
    def text(self, value: Any) -> str:
        """Return a value as users write it."""

    @abstractmethod
    def in_sentence(self, value: Any) -> str:
        """Return a value, or its absence, as users read it."""

    @abstractmethod
    def wrong_with(self, text: str) -> str | None:
        """Return what is wrong with the text of its variable; None: nothing, or it is ignored."""

    @abstractmethod
    def from_frame(self, frame: Any, flags: int) -> Any:
        """Return the value in a frame."""

    @abstractmethod
    def flags(self, value: Any) -> int:
        """Return the flags for it in a frame; a number has a field instead."""

    def in_log(self, value: Any) -> str:
        """Return a word for a line of the log; empty: there is no limit."""
        return "" if value is None else f"{self.option}={self.text(value)}"

    def variable_text(self, value: Any) -> str:
        """Return the text of its variable."""
        return str(value)

    def normalized(self, value: Any) -> Any:
        """Return None for the default."""
        return value

    def to_core(self, value: Any) -> Any:
        """Return it as the core has it."""
        return value

    def from_core(self, value: Any) -> Any:
        """Return the core's value as users see it."""
        return value


@dataclass(frozen=True, kw_only=True)
class _Size(Limit):
    """A limit that is a number: the smaller, the tighter."""

    def tightest(self, values: Sequence[int | None]) -> int | None:
        return min((value for value in values if value is not None), default=None)

    def cut(self, value: int | None, ceiling: Any) -> int | None:
        return self.tightest([value, getattr(ceiling, self.name)])

    def laxest(self, one: int | None, other: int | None) -> int | None:
        return None if one is None or other is None else max(one, other)

    def from_frame(self, frame: Any, _flags: int) -> int | None:
        return getattr(frame, self.name) or None

    def flags(self, _value: int | None) -> int:
        return 0


@dataclass(frozen=True, kw_only=True)
class Amount(_Size):
    """Bytes of memory."""

    def text(self, value: int) -> str:
        return format_quantity(value)

    def in_sentence(self, value: int | None) -> str:
        return format_quantity(value or 0)

    def wrong_with(self, text: str) -> str | None:
        try:
            return None if parse_quantity(text) else "it would leave nothing to allocate"
        except BadInputError as error:
            return error.in_a_line


@dataclass(frozen=True, kw_only=True)
class Number(_Size):
    """A whole number."""

    least: int
    most: int
    unit: str = ""

    def text(self, value: int) -> str:
        return str(value)

    def in_log(self, value: int | None) -> str:
        return "" if value is None else f"{self.option}={value}{self.unit}"

    def in_sentence(self, value: int | None) -> str:
        return f"{value} {self.unit}".rstrip()

    def wrong_with(self, text: str) -> str | None:
        is_number = text.isascii() and text.isdecimal()
        is_good = is_number and self.least <= int(text) <= self.most
        return None if is_good else f"it is not a number from {self.least} to {self.most}"


@dataclass(frozen=True, kw_only=True)
class Permission(Limit):
    """Permission to exceed another limit. None: it is not given."""

    # The name of that limit.
    beyond: str
    flag: int

    def tightest(self, values: Sequence[bool | None]) -> bool | None:
        return True if values and all(values) else None

    def cut(self, value: bool | None, ceiling: Any) -> bool | None:
        is_cut = getattr(ceiling, self.beyond) is not None and not getattr(ceiling, self.name)
        return None if is_cut else value

    def laxest(self, one: bool, other: bool) -> bool:
        return one or other

    def text(self, value: bool | None) -> str:
        return "on" if value else "off"

    def in_sentence(self, value: bool | None) -> str:
        return self.text(value)

    def in_log(self, value: bool | None) -> str:
        return self.option if value else ""

    def wrong_with(self, _text: str) -> None:
        # Its absence does no harm: the library reports the error, and goes on without it.
        return None

    def from_frame(self, _frame: Any, flags: int) -> bool | None:
        return True if flags & self.flag else None

    def flags(self, value: bool | None) -> int:
        return self.flag if value else 0

    def variable_text(self, value: bool) -> str:
        return "1" if value else "0"

    def normalized(self, value: bool | None) -> bool | None:
        return value or None

    def to_core(self, value: bool | None) -> bool:
        return bool(value)

    def from_core(self, value: bool) -> bool | None:
        return value or None


@dataclass(frozen=True, kw_only=True)
class Choice(Limit):
    """One of a few words. None: the default."""

    # From the most to the least.
    choices: tuple[str, ...]
    default: str
    enum: type[Enum]
    choice_flags: Mapping[str, int] = field(hash=False)

    def tightest(self, values: Sequence[str | None]) -> str | None:
        named = [value for value in values if value is not None]
        return max(named, key=self.choices.index, default=None)

    def cut(self, value: str | None, ceiling: Any) -> str | None:
        most: str | None = getattr(ceiling, self.name)
        return most if most is not None and self._rank(value) < self._rank(most) else value

    def laxest(self, one: str | None, other: str | None) -> str | None:
        return None if one is None or other is None else min(one, other, key=self._rank)

    def _rank(self, value: str | None) -> int:
        return self.choices.index(value or self.default)

    def text(self, value: str) -> str:
        return value

    def in_sentence(self, value: str | None) -> str:
        return value or self.default

    def wrong_with(self, text: str) -> str | None:
        listed = f"{', '.join(self.choices[:-1])} or {self.choices[-1]}"
        return None if text in self.choices else f"it is not {listed}"

    def from_frame(self, _frame: Any, flags: int) -> str | None:
        return next((name for name, flag in self.choice_flags.items() if flags & flag), None)

    def flags(self, value: str | None) -> int:
        return self.choice_flags.get(value or self.default, 0)

    def normalized(self, value: str | None) -> str | None:
        return None if value == self.default else value

    def to_core(self, value: str | None) -> Enum:
        return self.enum(value or self.default)

    def from_core(self, value: Enum) -> str | None:
        return self.normalized(str(value.value))
