"""The results of the probes: values by name, and reasons for missing values.

A name has dots in it: ``prefetch.out.first.seconds``. A reason may be given for one name, or for
all names with a prefix, as when a whole probe has failed.
"""

from collections.abc import Mapping
from typing import TypeAlias

Value: TypeAlias = int | float | str | bool


class MissingError(Exception):
    """A reading is missing."""


class Unavailable(Exception):  # noqa: N818 (not an error of anybody's)
    """A probe cannot measure its subject here; the text says why."""


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
        """Record a value; None means that there is none."""
        if value is None:
            self.miss(name, why_not)
        else:
            self.values[name] = value

    def miss(self, name: str, why: str) -> None:
        """Record why values are missing, for all names with this prefix."""
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
            raise MissingError(f'it is "{value}", which is not a number')
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
