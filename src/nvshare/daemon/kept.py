"""What was worked out for a snapshot, and holds for the next one as well.

Most of what people see of a program stays what it is for as long as the program is there: names,
limits, where these come from. To look at it again costs more than all that changes.
"""

from collections.abc import Callable
from operator import is_
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Kept(Generic[Key, Value]):
    """Values, each with the objects that it was made of.

    A value holds for as long as it would be made of the same objects: the same, not equal ones. So
    whatever a value follows from has to be replaced when it changes, and not changed in place.
    """

    def __init__(self) -> None:
        self._before: dict[Key, tuple[tuple[object, ...], Value]] = {}
        self._now: dict[Key, tuple[tuple[object, ...], Value]] = {}

    def get(self, key: Key, made_of: tuple[object, ...], make: Callable[[], Value]) -> Value:
        """Return what was made of these objects, or make it."""
        found = self._before.get(key)
        if found is None or not all(map(is_, found[0], made_of)):
            found = (made_of, make())
        self._now[key] = found
        return found[1]

    def forget_others(self) -> None:
        """Keep nothing of what nobody has asked for since this was last called."""
        self._before, self._now = self._now, {}
