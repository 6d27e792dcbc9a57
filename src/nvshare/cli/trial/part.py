"""One program of a trial, with what the GPU has told of it so far."""

from dataclasses import dataclass, field

from nvshare.cli.trial.actor import Actor
from nvshare.cli.trial.work import Work
from nvshare.emulator.profile import Profile
from nvshare.emulator.workload import Result
from nvshare.errors import NvshareError
from nvshare.sim.arrivals import Arrival
from nvshare.sim.figures import ClientFigures
from nvshare.sim.recovery import work_at


@dataclass
class Part:
    """A program and its process. Before it begins it has no GPU."""

    coming: Arrival
    actor: Actor
    gpu: int = -1
    result: Result | None = None
    # Work done, in seconds that it takes alone, at the instants at which somebody looked.
    curve: list[tuple[float, float]] = field(default_factory=list)

    def place(self, gpu: int, profile: Profile) -> None:
        """Put it on a GPU."""
        self.gpu = gpu
        self._work = Work(self.coming.program, profile)
        self.curve.append((self.coming.time, 0.0))

    @property
    def has_begun(self) -> bool:
        """Whether it was told to begin."""
        return self.gpu >= 0

    @property
    def done(self) -> float:
        """The work it has done, as a part of all that it has to do."""
        if self.result is not None:
            return 1.0
        return self.curve[-1][1] / self._work.total if self.curve and self._work.total else 0.0

    def note(self, now: float, kernels: int) -> None:
        """Write down how many kernels the GPU has counted by now."""
        if now > self.curve[-1][0]:
            self.curve.append((now, self._work.seconds(kernels)))

    def end(self, result: Result) -> None:
        """It has ended by itself."""
        self.result = result
        ended = max(self.coming.time + result.seconds, self.curve[-1][0] + 1e-9)
        self.curve.append((ended, self._work.total))

    def figures(self, now: float) -> ClientFigures:
        """Return how it fared. What has not ended is reckoned on from its speed of late."""
        duration, rate = (
            self._estimate(now)
            if self.result is None
            else (self.result.seconds, self.result.iterations_per_s)
        )
        return ClientFigures(
            name=self.coming.name, gpu=self.gpu, duration_s=duration, iterations_per_s=rate
        )

    def _estimate(self, now: float) -> tuple[float, float]:
        """Return seconds and iterations per second, as if all went on as in the second half."""
        middle = (self.coming.time + now) / 2
        speed = (work_at(self.curve, now) - work_at(self.curve, middle)) / (now - middle)
        if speed <= 0:
            raise NvshareError(
                f"{self.coming.name} has done nothing for {now - middle:.0f} s and was stopped",
                why="there is no speed from which its end could be reckoned",
                do="allow the run more time, with --limit",
            )
        left = self._work.total - self.curve[-1][1]
        duration = now - self.coming.time + left / speed
        return duration, self._work.iterations * speed / self._work.total
