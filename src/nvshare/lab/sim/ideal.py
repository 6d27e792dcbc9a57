"""The best possible time of a scenario, to compare results with. Simulates nothing.

A program's time alone is that on a GPU of its own, without nvshare. At best the programs of a GPU
follow each other without loss, and others use the time in which a program rests by its own will.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nvshare.lab.sim.arrivals import Arrival
from nvshare.lab.sim.scenario import Scenario
from nvshare.lab.sim.workload import alone_seconds


@dataclass(frozen=True, slots=True)
class Job:
    """A program in the best case. ``busy`` is the time that cannot be shared with others."""

    arrival: float
    alone: float
    busy: float


def jobs_of(scenario: Scenario, placed: Iterable[tuple[Arrival, int]]) -> dict[int, list[Job]]:
    """Return the jobs of each GPU. A program that never came has a place below 0."""
    profiles = scenario.profiles()
    jobs: dict[int, list[Job]] = {}
    for coming, gpu in placed:
        if gpu >= 0:
            alone, rest = alone_seconds(coming.program, profiles[gpu])
            jobs.setdefault(gpu, []).append(Job(coming.time, alone, alone - rest))
    return jobs


def earliest_end(jobs: Iterable[Job]) -> float:
    """Return the earliest time at which the jobs of one GPU can end."""
    latest, behind = 0.0, 0.0
    # Jobs that come after some moment have to be done after that moment.
    for job in sorted(jobs, key=lambda job: job.arrival, reverse=True):
        behind += job.busy
        latest = max(latest, job.arrival + behind, job.arrival + job.alone)
    return latest
