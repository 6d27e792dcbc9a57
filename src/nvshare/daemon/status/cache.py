"""Values computed for one snapshot that hold for the next one as well.

Most of what users see of a program never changes while it runs: names, limits, and their sources.
Computing these again would cost more than everything that changes.
"""

from collections.abc import Callable
from operator import is_
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """Values, each with the objects that it was made of.

    A value holds while its objects are the same: identical, not equal. So an object that values are
    made of has to be replaced when it changes, and not changed in place.
    """

    def __init__(self) -> None:
        self._before: dict[Key, tuple[tuple[object, ...], Value]] = {}
        self._now: dict[Key, tuple[tuple[object, ...], Value]] = {}

    def get(self, key: Key, made_of: tuple[object, ...], make: Callable[[], Value]) -> Value:
        """Return the value made of these objects, or make it."""
        found = self._before.get(key)
        if found is None or not all(map(is_, found[0], made_of)):
            found = (made_of, make())
        self._now[key] = found
        return found[1]

    def forget_others(self) -> None:
        """Forget values that have not been requested since the last call."""
        self._before, self._now = self._now, {}
