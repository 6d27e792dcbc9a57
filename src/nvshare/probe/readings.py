"""What the probes have found out: values by name, and reasons for what could not be had.

A name has dots in it: ``prefetch.out.first.seconds``. A reason may be given for one name, or for
all that begin with some words, as when a whole probe has failed.
"""

from collections.abc import Mapping
from typing import TypeAlias

Value: TypeAlias = int | float | str | bool


class MissingError(Exception):
    """A reading that there is none of."""


class Unavailable(Exception):  # noqa: N818 (not an error of anybody's)
    """What a probe wants to know cannot be known here; the text says why."""


class Readings:
    """Values and reasons."""

    def __init__(
        self, values: Mapping[str, Value] | None = None, absent: Mapping[str, str] | None = None
    ) -> None:
        self.values: dict[str, Value] = dict(values or {})
        self.absent: dict[str, str] = dict(absent or {})

    def note(
        self, name: str, value: Value | None, why_not: str = "the driver does not tell"
    ) -> None:
        """Write a value down; None is none."""
        if value is None:
            self.miss(name, why_not)
        else:
            self.values[name] = value

    def miss(self, name: str, why: str) -> None:
        """Write down why there is none; for all names that begin so."""
        self.absent[name] = why

    def get(self, name: str) -> Value:
        """Return a value; MissingError says why there is none."""
        try:
            return self.values[name]
        except KeyError:
            raise MissingError(self._reason(name)) from None

    def number(self, name: str) -> float:
        """Return a value that is a number."""
        value = self.get(name)
        if isinstance(value, str):
            raise MissingError(f'it is "{value}", which is no number')
        return float(value)

    def has(self, *names: str) -> bool:
        """Whether all of these were measured."""
        return all(name in self.values for name in names)

    def _reason(self, name: str) -> str:
        words = name.split(".")
        for length in range(len(words), 0, -1):
            if why := self.absent.get(".".join(words[:length])):
                return why
        return "not measured"
