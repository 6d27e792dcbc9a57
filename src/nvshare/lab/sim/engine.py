"""The simulation: a heap of virtual events, and programs that come, are placed, and end.

The same scenario and seed give the same result, to the last digit.
"""

import heapq
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from random import Random

from nvshare.lab.sim.arrivals import Arrival, arrivals
from nvshare.lab.sim.meeting import Meeting
from nvshare.lab.sim.placement import Placement
from nvshare.lab.sim.program import SimulatedProgram
from nvshare.lab.sim.record import Kind, Record
from nvshare.lab.sim.recovery import Curve
from nvshare.lab.sim.scenario import Scenario
from nvshare.lab.sim.site import Site
from nvshare.lab.sim.switchboard import Switchboard
from nvshare.lab.sim.tracing import Tracing
from nvshare.lab.sim.workload import actions
from nvshare.telemetry.trace.recording import Recording

# The interval for sampling the work of a GPU, if the scenario asks for it.
LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of a simulation. ``records`` in the order in which programs were named."""

    scenario: Scenario
    sites: tuple[Site, ...]
    arrivals: tuple[Arrival, ...]
    records: tuple[Record, ...]
    ended: float
    steps: int
    # The work of each GPU over time, if the scenario asks for its recovery.
    curves: tuple[Curve, ...] = ()
    # The trace of all events, if a picture is wanted.
    tracing: Tracing | None = None

    def recording(self, title: str) -> Recording:
        """Return the trace; the simulation must have been run with ``picture=True``."""
        if self.tracing is None:
            raise ValueError("this simulation was not recorded")
        names = [profile.gpu.name for profile in self.scenario.profiles()]
        return self.tracing.recording(title, self.sites, names)


class Engine:
    """One simulation. With ``check`` the core checks itself after every event.

    ``bursts``: whether bursts are recorded even without a picture.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        seed: int = 0,
        check: bool = False,
        picture: bool = False,
        bursts: bool = False,
    ) -> None:
        self.now = 0.0
        self._scenario = scenario
        self._seed = seed
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._picture = picture
        self._bursts = bursts or picture
        self._arrivals = arrivals(scenario, seed)
        self._records: dict[int, Record] = {}
        self._left = len(self._arrivals)
        self._last_end = 0.0
        self._profiles = scenario.profiles()
        together = Switchboard(check=check, follow=picture) if scenario.has_ranks else None
        self.sites = [
            Site(
                self,
                index,
                profile,
                scenario.settings_of(index),
                scenario.latency,
                together or Switchboard(check=check, follow=picture),
            )
            for index, profile in enumerate(self._profiles)
        ]
        self._tracing = Tracing(self._records.__getitem__) if picture else None
        if self._tracing is not None:
            for switchboard in dict.fromkeys(site.switchboard for site in self.sites):
                self._tracing.follow(switchboard)
        groups = Counter(coming.group for coming in self._arrivals if coming.group)
        self._meetings = {group: Meeting(ranks) for group, ranks in groups.items()}
        self._placement = Placement(len(self.sites))
        self._curves: tuple[list[tuple[float, float]], ...] = tuple([] for _ in self.sites)
        self._invite()
        if scenario.recovery:
            self._look()

    def at(self, time: float, call: Callable[[], None]) -> None:
        """Call at this time; calls for the same time are made in the order of registration."""
        heapq.heappush(self._heap, (time, next(self._numbers), call))

    def ended(self, site: Site, key: int) -> None:
        """A program has ended."""
        record = self._records[key]
        record.end_all(self.now)
        record.ended = self._last_end = self.now
        self._placement.gone(site.index, self._arrivals[key].promised)
        self._left -= 1

    def run(self) -> Outcome:
        """Run all events."""
        until = self._scenario.until
        steps = 0
        heap = self._heap
        while heap and self._left:
            time, _, call = heapq.heappop(heap)
            if until is not None and time > until:
                break
            self.now = time
            steps += 1
            call()
        if self._left and until is not None:
            self._cut_off(until)
        if self._tracing is not None:
            self._tracing.end(self.now)
        return Outcome(
            scenario=self._scenario,
            sites=tuple(self.sites),
            arrivals=tuple(self._arrivals),
            records=tuple(self._records[key] for key in range(len(self._arrivals))),
            ended=self.now if self._left else self._last_end,
            steps=steps,
            curves=self._curves,
            tracing=self._tracing,
        )

    def computed(self, site: Site) -> dict[int, float]:
        """Return how many seconds each program on a GPU has computed by now, ended ones too."""
        site.gpu.catch_up(self.now)
        programs = site.programs
        return {
            key: programs[key].computed_now() if key in programs else record.computed
            for key, record in site.records.items()
        }

    def _look(self) -> None:
        for site, curve in zip(self.sites, self._curves, strict=True):
            curve.append((self.now, sum(self.computed(site).values())))
        self.at(self.now + LOOK_S, self._look)

    def _cut_off(self, until: float) -> None:
        self.now = until
        for site in self.sites:
            site.gpu.catch_up(until)
            for key, program in site.programs.items():
                program.note_progress()
                site.note_time(key)
                self._records[key].end_all(until)

    def _invite(self) -> None:
        for key, coming in enumerate(self._arrivals):
            record = self._records[key] = Record(coming.name, -1, coming.time)
            if self._picture:
                record.spans = []
            if self._bursts:
                record.bursts = []
            self.at(coming.time, lambda key=key: self._arrive(key))  # type: ignore[misc]

    def _arrive(self, key: int) -> None:
        coming, record = self._arrivals[key], self._records[key]
        index = self._placement.choose(coming.wanted_gpu, coming.promised)
        site = self.sites[index]
        record.gpu = index
        record.begin(Kind.STARTUP, self.now)
        site.gpu.catch_up(self.now)
        site.records[key] = record
        # Its own random numbers, so that other programs in the scenario do not affect it.
        random = Random(f"{self._seed}/{key}")  # noqa: S311
        started = SimulatedProgram(
            site,
            key,
            actions(coming.program, self._profiles[index], random),
            coming.program.limits(),
            coming.group,
            self._meetings.get(coming.group),
        )
        site.programs[key] = started
        started.proceed()
        site.deliver()


def simulate(
    scenario: Scenario, *, seed: int = 0, check: bool = False, picture: bool = False
) -> Outcome:
    """Simulate a scenario from its beginning to its end."""
    return Engine(scenario, seed=seed, check=check, picture=picture).run()
