"""Who comes when: the programs of a scenario, one by one."""

from dataclasses import dataclass
from random import Random

from nvshare.sim.scenario import Program, Scenario
from nvshare.sim.workload import phases_of


@dataclass(frozen=True, slots=True)
class Arrival:
    """One program that comes. Copies of one kind have names and times of their own."""

    name: str
    program: Program
    time: float

    @property
    def wanted_gpu(self) -> int | None:
        """The GPU it has to go on; None: wherever there is least."""
        return self.program.gpu if isinstance(self.program.gpu, int) else None

    @property
    def promised(self) -> int:
        """The most memory it will have."""
        return max(phase.memory or 0 for phase in phases_of(self.program))


def arrivals(scenario: Scenario, seed: int = 0) -> list[Arrival]:
    """Return all who come, in the order in which the scenario names them."""
    random = Random(seed)  # noqa: S311
    coming = []
    for program in scenario.program:
        for number in range(program.count):
            name = program.name if program.count == 1 else f"{program.name}-{number + 1}"
            time = program.arrival + number * program.every
            if program.jitter:
                time += random.uniform(0.0, program.jitter)
            coming.append(Arrival(name, program, time))
    return coming
