"""Looks at every world that can come about, those with the fewest steps first."""

from array import array
from collections import deque
from dataclasses import dataclass, field
from time import monotonic

from .keys import key, tidy
from .properties import check_rest, check_step
from .violation import Violation
from .world import Case, Kind, Step, World


@dataclass
class Found:
    """What was found: how much there is, and the first thing that must not be, if there is one."""

    case: Case
    worlds: int = 0
    steps: int = 0
    depth: int = 0
    seconds: float = 0.0
    problem: str = ""
    path: list[Step] = field(default_factory=list)
    # A bound was reached before the end.
    is_cut: bool = False


class Search:
    """One search through all worlds of a case."""

    def __init__(self, case: Case, *, reduce: bool = True, most: int = 0) -> None:
        self.case = case
        self._reduces = reduce
        self._most = most
        self._seen: dict[bytes, int] = {}
        self._parents = array("l")
        self._labels: list[Step | None] = []

    def run(self) -> Found:
        """Look at everything."""
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
        found.worlds, found.seconds = len(self._seen), monotonic() - began
        return found

    def _expand(self, world: World, number: int, found: Found) -> list[tuple[World, int]]:
        steps = self.case.steps(world)
        try:
            check_rest(self.case, world, steps)
        except Violation as problem:
            raise _Stop(str(problem), self._path(number)) from problem
        for some in self._ample(world, steps):
            results = self._follow(world, number, some)
            new = []
            for step, after in results:
                index = self._note(after, number, step)
                if index is not None:
                    new.append((after, index))
            found.steps += len(results)
            if new or some is steps:
                return new
        return []

    def _follow(self, world: World, number: int, steps: list[Step]) -> list[tuple[Step, World]]:
        results = []
        for step in steps:
            try:
                after = check_step(self.case, world, step, self.case.follow(world, step))
            except (Violation, AssertionError) as problem:
                raise _Stop(str(problem), [*self._path(number), step]) from problem
            if self.case.is_within(after):
                results.append((step, tidy(after)))
        return results

    def _ample(self, world: World, steps: list[Step]) -> list[list[Step]]:
        """Return sets of steps, one of which suffices: the last is all of them.

        A process that has a message to read goes on with that, or with something of its own,
        whatever all others do meanwhile. So what others do can wait, if nobody sees the difference:
        no gate opens or closes, and no memory moves. Only without further faults: they
        could take the message away. That nothing waits for ever is seen to by the caller, who goes
        on to the next set if nothing new has come of this one.
        """
        if not self._reduces or world.faults:
            return [steps]
        sets = []
        for index, place in enumerate(world.places):
            if not place.inbox or place.process is None:
                continue
            standby = place.process.standby
            if standby is not None and standby not in world.written:
                continue
            own = self.case.own(world, index)
            if all(self._is_unseen(world, index, step) for step in own):
                sets.append(own)
        return [*sets[:1], steps]

    def _is_unseen(self, world: World, index: int, step: Step) -> bool:
        if step.kind is not Kind.DO:
            return False
        try:
            after = self.case.follow(world, step)
        except (Violation, AssertionError):
            return False
        old, new = world.places[index].process, after.places[index].process
        assert old and new
        same = old.is_open == new.is_open and old.on_device == new.on_device
        return same and old.waits == new.waits and after.written == world.written

    def _note(self, world: World, parent: int, step: Step | None) -> int | None:
        digest = key(world)
        if digest in self._seen:
            return None
        index = self._seen[digest] = len(self._seen)
        self._parents.append(parent)
        self._labels.append(step)
        return index

    def _path(self, number: int) -> list[Step]:
        steps: list[Step] = []
        while (label := self._labels[number]) is not None:
            steps.append(label)
            number = self._parents[number]
        return steps[::-1]


class _Stop(Exception):  # noqa: N818
    """Something was found."""

    def __init__(self, problem: str, path: list[Step]) -> None:
        super().__init__(problem)
        self.problem, self.path = problem, path
