"""The simulation: a heap of virtual events, and programs that come, are placed, and end.

The same scenario and seed give the same result, to the last digit.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from random import Random

from nvshare.sim.placement import Placement
from nvshare.sim.program import SimulatedProgram
from nvshare.sim.record import Kind, Record
from nvshare.sim.scenario import Program, Scenario
from nvshare.sim.site import Site
from nvshare.sim.workload import actions, phases_of


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a simulation leaves behind. ``records`` in the order in which programs were named."""

    scenario: Scenario
    sites: tuple[Site, ...]
    programs: tuple[Program, ...]
    records: tuple[Record, ...]
    ended: float
    steps: int


class Engine:
    """One simulation. ``check`` has the core check itself after every event."""

    def __init__(
        self, scenario: Scenario, *, seed: int = 0, check: bool = False, picture: bool = False
    ) -> None:
        self.now = 0.0
        self._scenario = scenario
        self._seed = seed
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._picture = picture
        self._programs: list[Program] = []
        self._records: dict[int, Record] = {}
        self._left = 0
        self._last_end = 0.0
        self._profiles = scenario.profiles()
        self._sites = [
            Site(self, index, profile, scenario.settings_of(index), scenario.latency, check=check)
            for index, profile in enumerate(self._profiles)
        ]
        self._placement = Placement(len(self._sites))
        self._invite(Random(seed))  # noqa: S311

    def at(self, time: float, call: Callable[[], None]) -> None:
        """Call at this time; what was asked for first comes first."""
        heapq.heappush(self._heap, (time, next(self._numbers), call))

    def ended(self, site: Site, key: int) -> None:
        """A program has ended."""
        record = self._records[key]
        record.end_all(self.now)
        record.ended = self._last_end = self.now
        self._placement.gone(site.index, _promised(self._programs[key]))
        self._left -= 1

    def run(self) -> Outcome:
        """Let everything happen."""
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
        return Outcome(
            scenario=self._scenario,
            sites=tuple(self._sites),
            programs=tuple(self._programs),
            records=tuple(self._records[key] for key in range(len(self._programs))),
            ended=self.now if self._left else self._last_end,
            steps=steps,
        )

    def _cut_off(self, until: float) -> None:
        self.now = until
        for site in self._sites:
            site.gpu.catch_up(until)
            for key, program in site.programs.items():
                program.note_progress()
                self._records[key].end_all(until)

    def _invite(self, random: Random) -> None:
        for program in self._scenario.program:
            for number in range(program.count):
                key = len(self._programs)
                name = program.name if program.count == 1 else f"{program.name}-{number + 1}"
                arrival = program.arrival + number * program.every
                if program.jitter:
                    arrival += random.uniform(0.0, program.jitter)
                self._programs.append(program)
                self._records[key] = Record(name, -1, arrival, spans=[] if self._picture else None)
                self.at(arrival, lambda key=key: self._arrive(key))  # type: ignore[misc]
        self._left = len(self._programs)

    def _arrive(self, key: int) -> None:
        program, record = self._programs[key], self._records[key]
        place = program.gpu if isinstance(program.gpu, int) else None
        index = self._placement.choose(place, _promised(program))
        site = self._sites[index]
        record.gpu = index
        record.begin(Kind.STARTUP, self.now)
        site.gpu.catch_up(self.now)
        site.records[key] = record
        # Its own numbers, so that another program more or less changes nothing for this one.
        random = Random(f"{self._seed}/{key}")  # noqa: S311
        started = SimulatedProgram(site, key, actions(program, self._profiles[index], random))
        site.programs[key] = started
        started.proceed()
        site.settle()


def _promised(program: Program) -> int:
    return max(phase.memory or 0 for phase in phases_of(program))


def simulate(
    scenario: Scenario, *, seed: int = 0, check: bool = False, picture: bool = False
) -> Outcome:
    """Simulate a scenario from its beginning to its end."""
    return Engine(scenario, seed=seed, check=check, picture=picture).run()
