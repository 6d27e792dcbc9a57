"""How long one process may wait, in every continuation in which every process goes on some time.

Worlds in which it waits are a graph. A cycle in which time passes, and in which no process is late
or keeps a collective waiting all the time, is a way to wait for ever. Without such cycles there is
a longest path.
"""

from math import inf

from .world import FAULTS, Kind, Step, World


class Waits:
    """Notes where a process waits, and the steps from there. Faults do not go on for ever."""

    def __init__(self, place: int) -> None:
        self.place = place
        # A world in which it may begin to wait for ever.
        self.example = 0
        self._edges: dict[int, list[tuple[int, float]]] = {}
        # By world, the processes that are late there, or that a collective waits for.
        self._late: dict[int, frozenset[int]] = {}

    def note(self, world: World, number: int, step: Step, after: int) -> None:
        """Note a step, if the process waits before it and is not late itself."""
        place = world.places[self.place]
        if not place.process or not place.process.waits or place.late or step.kind in FAULTS:
            return
        seconds = 0.0
        if step.kind is Kind.TICK and world.daemon:
            seconds = next(one.seconds for one in world.daemon.alarms if one.device == step.place)
        self._edges.setdefault(number, []).append((after, seconds))
        late = (index for index, one in enumerate(world.places) if one.late)
        self._late[number] = world.joiners().union(late)

    def longest(self) -> float:
        """Return the most seconds that the process may wait; infinity: for ever."""
        longest: dict[int, float] = {}
        # A component comes after all components that follow from it.
        for members in _components(self._edges):
            inside = set(members)
            out = [edge for one in members for edge in self._edges[one]]
            if self._is_for_ever(inside, out):
                self.example = members[0]
                return inf
            own = sum(seconds for after, seconds in out if after in inside)
            best = max((seconds + longest.get(after, 0.0) for after, seconds in out), default=0.0)
            for one in members:
                longest[one] = own + best
        return max(longest.values(), default=0.0)

    def _is_for_ever(self, inside: set[int], out: list[tuple[int, float]]) -> bool:
        if not any(seconds and after in inside for after, seconds in out):
            return False
        late = frozenset.intersection(*(self._late[one] for one in inside))
        return not late


def _components(edges: dict[int, list[tuple[int, float]]]) -> list[list[int]]:
    """Return the strongly connected components, by Tarjan's algorithm, without recursion."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []
    for root in edges:
        if root in index:
            continue
        work = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            for after, _ in rest:
                if after not in edges:
                    continue
                if after not in index:
                    index[after] = low[after] = len(index)
                    stack.append(after)
                    on_stack.add(after)
                    work.append((after, iter(edges[after])))
                    break
                if after in on_stack:
                    low[node] = min(low[node], index[after])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == index[node]:
                    at = stack.index(node)
                    found.append(stack[at:])
                    on_stack.difference_update(stack[at:])
                    del stack[at:]
    return found
