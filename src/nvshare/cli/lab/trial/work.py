"""A program's kernels converted to seconds on a GPU of its own. The GPU counts kernels."""

from bisect import bisect_right
from itertools import accumulate

from nvshare.lab.emulator.profile import Profile
from nvshare.lab.sim.scenario import Program
from nvshare.lab.sim.workload import kernel_of, phases_of


class Work:
    """All the kernels of one program, in their order."""

    def __init__(self, program: Program, profile: Profile) -> None:
        works = [kernel_of(phase, profile) for phase in phases_of(program)]
        self._kernels = [0, *accumulate(work.kernels for work in works)]
        self._seconds = [0.0, *accumulate(work.kernels * work.seconds for work in works)]
        self._each = [work.seconds for work in works]
        self.iterations = sum(phase.iterations for phase in phases_of(program))

    @property
    def kernels(self) -> int:
        """The number of kernels."""
        return self._kernels[-1]

    @property
    def total(self) -> float:
        """The seconds that all kernels take."""
        return self._seconds[-1]

    def before(self, phase: int) -> float:
        """Return the seconds of all kernels before a phase; phases count from 1."""
        return self._seconds[phase - 1]

    def seconds(self, kernels: int) -> float:
        """Return the seconds of the first kernels, up to this number."""
        done = min(kernels, self.kernels)
        phase = bisect_right(self._kernels, done) - 1
        if phase == len(self._each):
            return self.total
        return self._seconds[phase] + (done - self._kernels[phase]) * self._each[phase]
