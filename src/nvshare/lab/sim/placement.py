"""The GPU for a program: the one with the fewest programs now, then with the least memory.

The rule of the device plugin, without a kubelet to ask.
"""

import heapq


class Placement:
    """The number of programs, and their peak bytes, that each GPU has been given."""

    def __init__(self, gpus: int) -> None:
        self._loads = [(0, 0)] * gpus
        # Every load that a GPU has or had; outdated loads are skipped.
        self._heap = [(0, 0, index) for index in range(gpus)]

    def choose(self, wanted: int | None, promised: int) -> int:
        """Return the GPU for a program: the one it wants, or the least loaded one."""
        index = self._least() if wanted is None else wanted
        programs, memory = self._loads[index]
        self._set(index, programs + 1, memory + promised)
        return index

    def gone(self, index: int, promised: int) -> None:
        """A program has ended."""
        programs, memory = self._loads[index]
        self._set(index, programs - 1, memory - promised)

    def _set(self, index: int, programs: int, memory: int) -> None:
        self._loads[index] = (programs, memory)
        heapq.heappush(self._heap, (programs, memory, index))

    def _least(self) -> int:
        while True:
            programs, memory, index = self._heap[0]
            if self._loads[index] == (programs, memory):
                return index
            heapq.heappop(self._heap)
