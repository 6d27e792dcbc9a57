"""A day on a cluster of 1,000 GPUs with 10,000 jobs, drawn from a seed.

The mix is assumed: it is not based on a trace of a real cluster. Most jobs are small trainings,
some are large, and many rest most of the time, as notebooks and services do.
"""

from collections.abc import Callable
from random import Random

from nvshare.lab.sim.scenario import Phase, Program, Scenario
from nvshare.settings import DeviceSettings, LabSettings

GB = 1_000_000_000
MINUTE = 60.0
HOUR = 3600.0

Make = Callable[[Random], tuple[Phase, ...]]


def cluster_day(seed: int, *, nodes: int = 125, jobs: int = 10_000) -> Scenario:
    """Return the scenario; ``nodes`` have eight GPUs each."""
    random = Random(seed)  # noqa: S311
    kinds, weights = zip(*_KINDS.values(), strict=True)
    names = list(_KINDS)
    programs = []
    for number in range(jobs):
        name = random.choices(range(len(names)), weights)[0]
        programs.append(
            Program(
                name=f"{names[name]}-{number}",
                arrival=round(_arrival(random), 3),
                startup=6.0,
                phase=kinds[name](random),
            )
        )
    return Scenario(
        name="cluster-day",
        title=f"{8 * nodes} GPUs, {jobs} jobs, one day",
        gpus="8xt4",
        nodes=nodes,
        # The length of short turns affects only the cost of simulating them.
        settings=DeviceSettings(lab=LabSettings(slice_seconds=120.0)),
        program=tuple(programs),
    )


def _arrival(random: Random) -> float:
    """Return a time of the day: half of the jobs come in eight office hours."""
    if random.random() < 0.5:
        return random.uniform(9 * HOUR, 17 * HOUR)
    return random.uniform(0, 22 * HOUR)


def _training(low: float, high: float, minutes: tuple[float, float]) -> Make:
    def make(random: Random) -> tuple[Phase, ...]:
        memory = round(random.uniform(low, high) * GB)
        kernel = random.uniform(0.005, 0.1)
        iterations = round(random.uniform(*minutes) * MINUTE / kernel)
        return (
            Phase(memory=memory, copy_in=memory // 4),
            Phase(iterations=iterations, kernel_seconds=kernel),
        )

    return make


def _resting(low: float, high: float, work: float, rest: tuple[float, float]) -> Make:
    """Work for a while and rest for longer, repeatedly for some hours."""

    def make(random: Random) -> tuple[Phase, ...]:
        memory = round(random.uniform(low, high) * GB)
        idle = random.uniform(*rest)
        rounds = max(1, round(random.uniform(0.5, 3) * HOUR / (idle + work)))
        return (
            Phase(memory=memory, copy_in=memory // 4),
            Phase(
                iterations=rounds,
                kernels=round(work / 0.02),
                kernel_seconds=0.02,
                idle=idle,
                idle_jitter=idle,
            ),
        )

    return make


# The kinds of jobs, and their frequencies.
_KINDS: dict[str, tuple[Make, float]] = {
    "training": (_training(1.0, 4.0, (30, 150)), 40),
    "large": (_training(8.0, 12.0, (30, 120)), 20),
    "notebook": (_resting(1.0, 6.0, 20.0, (120.0, 900.0)), 25),
    "service": (_resting(2.0, 4.0, 2.0, (30.0, 120.0)), 15),
}
