"""Explores every reachable world, those with the fewest steps first."""

from array import array
from collections import deque
from dataclasses import dataclass, field
from math import inf
from time import monotonic

from .case import Case
from .daemon import forget_daemons
from .keys import key, tidy
from .properties import check_rest, check_step
from .violation import Violation
from .waiting import Waits
from .world import Step, World


@dataclass
class Found:
    """The result: how much was searched, and the first violation, if there is one."""

    case: Case
    worlds: int = 0
    steps: int = 0
    depth: int = 0
    seconds: float = 0.0
    problem: str = ""
    path: list[Step] = field(default_factory=list)
    # Steps that were not followed, because a process would have had too much to read.
    left_out: int = 0
    # The most seconds that one of the processes may wait, if requested.
    longest_wait: float = 0.0
    # A bound ended the search.
    is_cut: bool = False


class Search:
    """One search through all worlds of a case."""

    def __init__(self, case: Case, *, most: int = 0, waits: Waits | None = None) -> None:
        self.case = case
        self._waits = waits
        self._most = most
        self._seen: dict[bytes, int] = {}
        self._parents = array("l")
        self._labels: list[Step | None] = []

    def run(self) -> Found:
        """Explore everything."""
        forget_daemons()
        found, began = Found(self.case), monotonic()
        first = tidy(self.case.begin())
        self._note(first, -1, None)
        queue = deque([(first, 0, 0)])
        while queue and not found.problem:
            world, number, depth = queue.popleft()
            found.depth = depth
            if self._most and len(self._seen) > self._most:
                found.is_cut = True
                break
            try:
                new = self._expand(world, number, found)
            except _Stop as stop:
                found.problem, found.path = stop.problem, stop.path
                break
            queue.extend((after, index, depth + 1) for after, index in new)
        if self._waits and not found.problem and not found.is_cut:
            found.longest_wait = self._waits.longest()
            if found.longest_wait == inf:
                found.problem = f"process {self._waits.place + 1} may wait for ever"
                found.path = self.path(self._waits.example)
        found.worlds, found.seconds = len(self._seen), monotonic() - began
        return found

    def _expand(self, world: World, number: int, found: Found) -> list[tuple[World, int]]:
        steps = self.case.steps(world)
        try:
            check_rest(self.case, world, steps)
        except Violation as problem:
            raise _Stop(str(problem), self.path(number)) from problem
        new = []
        for step, after in self._follow(world, number, steps, found):
            found.steps += 1
            index, is_new = self._note(after, number, step)
            if self._waits:
                self._waits.note(world, number, step, index)
            if is_new:
                new.append((after, index))
        return new

    def _follow(
        self, world: World, number: int, steps: list[Step], found: Found
    ) -> list[tuple[Step, World]]:
        results = []
        for step in steps:
            try:
                after = check_step(self.case, world, step, self.case.follow(world, step))
            except (Violation, AssertionError) as problem:
                raise _Stop(str(problem), [*self.path(number), step]) from problem
            if self.case.is_within(after):
                results.append((step, tidy(after)))
            else:
                found.left_out += 1
        return results

    def _note(self, world: World, parent: int, step: Step | None) -> tuple[int, bool]:
        """Return the number of a world, and whether it is new."""
        digest = key(world, self._waits.place if self._waits else None)
        number = len(self._seen)
        index = self._seen.setdefault(digest, number)
        if index == number:
            self._parents.append(parent)
            self._labels.append(step)
        return index, index == number

    def path(self, number: int) -> list[Step]:
        """Return a shortest path to a world."""
        steps: list[Step] = []
        while (label := self._labels[number]) is not None:
            steps.append(label)
            number = self._parents[number]
        return steps[::-1]


class _Stop(Exception):  # noqa: N818
    """A violation was found."""

    def __init__(self, problem: str, path: list[Step]) -> None:
        super().__init__(problem)
        self.problem, self.path = problem, path
