"""A program's progress, and when it would end at its recent speed. Starts nothing."""

from dataclasses import dataclass, field

from nvshare.cli.lab.trial.work import Work
from nvshare.errors import NvshareError
from nvshare.lab.sim.recovery import work_at


@dataclass
class Progress:
    """The work that a program has done since its arrival, in seconds that it takes alone."""

    name: str
    arrival: float
    work: Work
    # Instants, and the work done by then.
    curve: list[tuple[float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin with nothing."""
        self.curve.append((self.arrival, 0.0))

    @property
    def done(self) -> float:
        """The work done, as a part of all work."""
        return self.curve[-1][1] / self.work.total if self.work.total else 0.0

    def note(self, now: float, kernels: int) -> None:
        """Record how many kernels the GPU has counted so far."""
        instant, before = self.curve[-1]
        done = self.work.seconds(kernels)
        # The GPU no longer counts a process that is ending, but its work is done.
        if now > instant and done >= before:
            self.curve.append((now, done))

    def end(self, seconds: float) -> None:
        """Record that it ended by itself, this long after its arrival."""
        # The GPU's clock and the program's are read one after the other.
        self.curve = [point for point in self.curve if point[0] < self.arrival + seconds]
        self.curve.append((self.arrival + seconds, self.work.total))

    def rate(self) -> float:
        """Return the iterations per second of a program that has ended, as the GPU saw it.

        Counted from the last look at which no work was done: a little too long, never too short.
        """
        began = max(instant for instant, done in self.curve if done == 0)
        return self.work.iterations / (self.curve[-1][0] - began)

    def begin_of(self, phase: int) -> float:
        """Return when a phase began, at the latest look before it, counted from the arrival."""
        before = self.work.before(phase)
        return (
            max((at for at, done in self.curve if done < before), default=self.arrival)
            - self.arrival
        )

    def estimate(self, now: float) -> tuple[float, float]:
        """Return seconds and iterations per second, extrapolated from the second half.

        A program that did nothing in the second half is extrapolated from the whole.
        """
        middle = (self.arrival + now) / 2
        speed = (work_at(self.curve, now) - work_at(self.curve, middle)) / (now - middle)
        speed = speed or self.curve[-1][1] / (now - self.arrival)
        if speed <= 0:
            raise NvshareError(
                f"{self.name} was stopped after {now:.0f} s, before it had done any work",
                why="there is no speed from which its end could be extrapolated",
                do="allow more time, with --limit",
            )
        left = self.work.total - self.curve[-1][1]
        seconds = now - self.arrival + left / speed
        return seconds, self.work.iterations * speed / self.work.total
