"""Arrivals: the programs of a scenario, one by one, with their times."""

from dataclasses import dataclass
from random import Random

from nvshare.lab.sim.scenario import Program, Scenario
from nvshare.lab.sim.workload import phases_of


@dataclass(frozen=True, slots=True)
class Arrival:
    """The arrival of one program. Copies of one kind have names and times of their own."""

    name: str
    program: Program
    time: float
    # The GPU it has to run on; None: the least loaded one.
    wanted_gpu: int | None = None
    # The name that it shares with the other ranks of one program, if it is a rank.
    group: str = ""
    rank: int = 0

    @property
    def promised(self) -> int:
        """The most memory it will have."""
        return max(phase.memory or 0 for phase in phases_of(self.program))


def arrivals(scenario: Scenario, seed: int = 0) -> list[Arrival]:
    """Return all arrivals, in the order in which the scenario names them."""
    random = Random(seed)  # noqa: S311
    coming: list[Arrival] = []
    for program in scenario.program:
        for number in range(program.count):
            name = program.name if program.count == 1 else f"{program.name}-{number + 1}"
            time = program.arrival + number * program.every
            if program.jitter:
                time += random.uniform(0.0, program.jitter)
            coming += _processes(name, program, time, f"ranks-{len(coming)}")
    return coming


def _processes(name: str, program: Program, time: float, group: str) -> list[Arrival]:
    """Return the processes of one program: itself, or one on each of its GPUs, in a group."""
    if not program.ranks:
        gpu = program.gpu if isinstance(program.gpu, int) else None
        return [Arrival(name, program, time, gpu)]
    ranks = enumerate(program.ranks)
    return [Arrival(f"{name}.{rank}", program, time, gpu, group, rank) for rank, gpu in ranks]
