"""A scenario under way: starts programs at their times, and samples the GPUs now and then.

The caller drives it with step(), so that several trials can run side by side, and be watched.
"""

import time
from collections import defaultdict
from dataclasses import dataclass
from math import inf
from types import TracebackType

from nvshare.cli.lab.trial.actor import Actor, Ending
from nvshare.cli.lab.trial.limits import own_group, with_limits
from nvshare.cli.lab.trial.programs import DRIVER, Programs
from nvshare.cli.lab.trial.progress import Progress
from nvshare.cli.lab.trial.ranks import Rank
from nvshare.cli.lab.trial.stage import Stage
from nvshare.cli.lab.trial.work import Work
from nvshare.lab.emulator.report import Report, read_report
from nvshare.lab.sim.arrivals import Arrival, arrivals
from nvshare.lab.sim.placement import Placement
from nvshare.lab.sim.recovery import work_at
from nvshare.lab.sim.scenario import Scenario

STEP_S = 0.005
# A program is told to begin a little ahead of time.
_AHEAD_S = 0.02
# A sample costs a millisecond of a processor that the programs need.
_LOOK_S = 0.1
_LOOK_CLOSELY_S = 0.02


@dataclass
class Part:
    """One program. Before it begins it has no GPU and no progress."""

    coming: Arrival
    actor: Actor
    gpu: int = -1
    progress: Progress | None = None
    result: Ending | None = None


class Trial:
    """Programs on a stage. ``limit``: stop them all after this many emulated seconds.

    Without a daemon they allocate managed memory themselves, unless they are ``plain`` and have to
    fit as they are.
    """

    def __init__(
        self,
        scenario: Scenario,
        stage: Stage,
        *,
        plain: bool = False,
        seed: int = 0,
        limit: float | None = None,
        programs: Programs = DRIVER,
    ) -> None:
        self.scenario = scenario
        self.stage = stage
        self.programs = programs
        self._managed = stage.daemon is None and not plain
        self._seed = seed
        self._limit = inf if limit is None else limit
        self._profiles = scenario.profiles()
        self._placement = Placement(len(self._profiles))
        self._look_every = _LOOK_CLOSELY_S if scenario.recovery else _LOOK_S
        self._looked = 0.0
        self.parts: list[Part] = []
        self.ended: float | None = None

    def __enter__(self) -> "Trial":
        groups: dict[str, str] = defaultdict(own_group)
        try:
            for number, coming in enumerate(arrivals(self.scenario, self._seed)):
                seed = self._seed + number
                command = self.programs.command(
                    coming.program, managed=self._managed, seed=seed, rank=self._rank(coming)
                )
                group = groups[coming.group] if coming.group else ""
                environ = with_limits(coming.program.limits(), self.stage.environ, group)
                self.parts.append(Part(coming, Actor(command, environ)))
            for part in self.parts:
                part.actor.wait_until_ready()
        except BaseException:
            self._stop()
            raise
        return self

    def _rank(self, coming: Arrival) -> Rank | None:
        if not coming.group:
            return None
        return Rank(coming.rank, self.stage.node.folder / f"meet-{coming.group}")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop all programs that still run."""
        self._stop()

    def _stop(self) -> None:
        for part in self.parts:
            if part.result is None:
                part.actor.stop()

    def begin(self) -> None:
        """Begin: from now on step() has to be called often."""
        # The zero of all times, by the machine's clock and by the node's.
        before = time.monotonic()
        clock = read_report(self.stage.node.folder).clock_ns / 1e9
        now = time.monotonic()
        self._zero = now + 2 * _AHEAD_S
        self._clock_zero = clock + (self._zero - (before + now) / 2) * self.stage.node.speed

    @property
    def now(self) -> float:
        """Emulated seconds since the beginning."""
        return (time.monotonic() - self._zero) * self.stage.node.speed

    @property
    def is_over(self) -> bool:
        """Whether all have ended, or the limit is reached."""
        return self.ended is not None

    def step(self) -> None:
        """Do what is due. Takes negligible time."""
        for part in self.parts:
            if part.progress is None:
                self._begin_if_due(part)
            elif part.result is None and part.actor.has_ended:
                part.result = part.actor.ending()
                part.progress.end(part.result.seconds)
                self._placement.gone(part.gpu, part.coming.promised)
        if time.monotonic() - self._looked > self._look_every:
            self._looked = time.monotonic()
            self._note(read_report(self.stage.node.folder))
        if self.now > self._limit or all(part.result for part in self.parts):
            self.stop()

    def stop(self) -> None:
        """Stop with the work done so far."""
        self._note(read_report(self.stage.node.folder))
        self.ended = self.now

    def run(self) -> None:
        """Run it from beginning to end."""
        self.begin()
        while not self.is_over:
            self.step()
            time.sleep(STEP_S)

    def _begin_if_due(self, part: Part) -> None:
        instant = self._zero + part.coming.time / self.stage.node.speed
        if instant - _AHEAD_S > time.monotonic():
            return
        coming = part.coming
        part.gpu = self._placement.choose(coming.wanted_gpu, coming.promised)
        work = Work(self.programs.launched(coming.program), self._profiles[part.gpu])
        part.progress = Progress(coming.name, coming.time, work)
        part.actor.begin(part.gpu, instant)

    def _note(self, report: Report) -> None:
        now = report.clock_ns / 1e9 - self._clock_zero
        for part in self.parts:
            if part.progress is not None and part.result is None:
                process = report.process(part.actor.pid)
                accounts = process.gpus if process is not None else ()
                part.progress.note(now, sum(account.kernels for account in accounts))

    def curve_of(self, gpu: int) -> list[tuple[float, float]]:
        """Return the work of all programs of a GPU over time."""
        parts = [part for part in self.parts if part.gpu == gpu]
        curves = [part.progress.curve for part in parts if part.progress is not None]
        instants = sorted({instant for curve in curves for instant, _ in curve})
        return [(at, sum(work_at(curve, at) for curve in curves)) for at in instants]
