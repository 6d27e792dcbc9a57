"""A scenario under way: programs begin when they should, and the GPUs are looked at now and then.

It is carried on by whoever calls step(), so that several can go on side by side, and be watched.
"""

import time
from types import TracebackType

from nvshare.cli.trial.actor import Actor
from nvshare.cli.trial.command import command_of
from nvshare.cli.trial.part import Part
from nvshare.cli.trial.stage import Stage
from nvshare.emulator.report import Report, read_report
from nvshare.sim.arrivals import arrivals
from nvshare.sim.placement import Placement
from nvshare.sim.recovery import work_at
from nvshare.sim.scenario import Scenario

STEP_S = 0.005
# A program is told to begin a little ahead of time.
_AHEAD_S = 0.02
# Looking costs a millisecond of a processor that the programs need.
_LOOK_S = 0.1
_LOOK_CLOSELY_S = 0.02


class Trial:
    """Programs on a stage. ``limit``: stop them all after so many emulated seconds."""

    def __init__(
        self, scenario: Scenario, stage: Stage, *, seed: int = 0, limit: float | None = None
    ) -> None:
        self.scenario = scenario
        self.stage = stage
        self._seed = seed
        self._limit = limit
        self._profiles = scenario.profiles()
        self._placement = Placement(len(self._profiles))
        self._look_every = _LOOK_CLOSELY_S if scenario.recovery else _LOOK_S
        self._looked = 0.0
        self.parts: list[Part] = []
        self.ended: float | None = None

    def __enter__(self) -> "Trial":
        managed = self.stage.daemon is None
        try:
            for number, coming in enumerate(arrivals(self.scenario, self._seed)):
                command = command_of(coming.program, managed=managed, seed=self._seed + number)
                self.parts.append(Part(coming, Actor(command, self.stage.environ)))
            for part in self.parts:
                part.actor.wait_until_ready()
        except BaseException:
            self._stop()
            raise
        self._set_clock()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop whoever still runs."""
        self._stop()

    def _stop(self) -> None:
        for part in self.parts:
            if part.result is None:
                part.actor.stop()

    def _set_clock(self) -> None:
        """Choose the moment from which all counts, and find what the node's clock is then."""
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
        """Do what is due. Takes no time worth mentioning."""
        for part in self.parts:
            if not part.has_begun:
                self._begin_if_due(part)
            elif part.result is None and part.actor.has_ended:
                part.end(part.actor.result())
                self._placement.gone(part.gpu, part.coming.promised)
        if time.monotonic() - self._looked > self._look_every:
            self._looked = time.monotonic()
            self._note(read_report(self.stage.node.folder))
        if all(part.result for part in self.parts):
            self.ended = max(part.curve[-1][0] for part in self.parts)
        elif self._limit is not None and self.now > self._limit:
            self.ended = self.now

    def run(self) -> None:
        """Carry it on to its end."""
        while not self.is_over:
            self.step()
            time.sleep(STEP_S)

    def _begin_if_due(self, part: Part) -> None:
        instant = self._zero + part.coming.time / self.stage.node.speed
        if instant - _AHEAD_S > time.monotonic():
            return
        gpu = self._placement.choose(part.coming.wanted_gpu, part.coming.promised)
        part.place(gpu, self._profiles[gpu])
        part.actor.begin(gpu, instant)

    def _note(self, report: Report) -> None:
        now = report.clock_ns / 1e9 - self._clock_zero
        for part in self.parts:
            process = report.process(part.actor.pid)
            if process is not None and part.has_begun and part.result is None:
                part.note(now, sum(account.kernels for account in process.gpus))

    def curve_of(self, gpu: int) -> list[tuple[float, float]]:
        """Return the work of all programs of a GPU over time."""
        curves = [part.curve for part in self.parts if part.gpu == gpu]
        instants = sorted({instant for curve in curves for instant, _ in curve})
        return [(at, sum(work_at(curve, at) for curve in curves)) for at in instants]
