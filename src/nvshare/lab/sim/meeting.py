"""Ranks of one program that meet on their GPUs: a kernel of each spins until all have arrived."""

from collections.abc import Callable


class Meeting:
    """The barrier of the ranks of one program. It does not wait for ranks that have ended."""

    def __init__(self, ranks: int) -> None:
        self._ranks = ranks
        self._there: list[Callable[[], None]] = []

    def come(self, meet: Callable[[], None]) -> None:
        """Note that the kernel of one rank runs. When all have arrived, all are called."""
        self._there.append(meet)
        self._look()

    def leave(self) -> None:
        """One rank has ended."""
        self._ranks -= 1
        self._look()

    def _look(self) -> None:
        if self._there and len(self._there) == self._ranks:
            there, self._there = self._there, []
            for meet in there:
                meet()
