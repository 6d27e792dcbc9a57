"""A scenario from its beginning to its figures, on the emulator or on the simulator."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from nvshare.cli.lab.trial.baseline import alone_seconds
from nvshare.cli.lab.trial.outcome import figures_of
from nvshare.cli.lab.trial.programs import DRIVER, Programs
from nvshare.cli.lab.trial.stage import open_stage
from nvshare.cli.lab.trial.trial import Trial
from nvshare.errors import BadInputError
from nvshare.lab.sim.arrivals import arrivals
from nvshare.lab.sim.engine import simulate
from nvshare.lab.sim.figures import Figures
from nvshare.lab.sim.report import summarise
from nvshare.lab.sim.scenario import Scenario
from nvshare.launch.preload import Wishes

_MOST_PROGRAMS = 100


def on_simulator(scenario: Scenario, label: str, seed: int = 0) -> Figures:
    """Simulate a scenario."""
    return summarise(simulate(scenario, seed=seed), label)


def on_emulator(
    scenario: Scenario,
    label: str,
    *,
    speed: float,
    managed: bool = True,
    limit: float | None = None,
    seed: int = 0,
    programs: Programs = DRIVER,
    wishes: Wishes | None = None,
) -> Figures:
    """Run it on an emulated node. Not ``managed``: with unified memory alone, and no nvshare."""
    with prepare(
        scenario, speed, managed=managed, limit=limit, seed=seed, programs=programs, wishes=wishes
    ) as trial:
        trial.run()
        figures = figures_of(trial, label)
    return replace(figures, baseline_s=measured_baseline(trial))


@contextlib.contextmanager
def prepare(
    scenario: Scenario,
    speed: float,
    *,
    managed: bool,
    plain: bool = False,
    limit: float | None = None,
    seed: int = 0,
    programs: Programs = DRIVER,
    wishes: Wishes | None = None,
) -> Iterator[Trial]:
    """Yield a trial that has not begun; clean up at the end."""
    if (
        scenario.nodes > 1
        or scenario.until is not None
        or len(arrivals(scenario, seed)) > _MOST_PROGRAMS
    ):
        raise BadInputError(
            f"the scenario {scenario.name} cannot be played on the emulator",
            why=f"it has several nodes, more than {_MOST_PROGRAMS} programs, or no end of its own",
            do="run it with --on simulator",
        )
    profiles = scenario.profiles()
    settings = [scenario.settings_of(index) for index in range(len(profiles))]
    with (
        open_stage(profiles, speed, settings if managed else None, wishes=wishes) as stage,
        Trial(scenario, stage, plain=plain, seed=seed, limit=limit, programs=programs) as trial,
    ):
        yield trial


def measured_baseline(trial: Trial) -> float:
    """Return how long the longest program takes alone, on a GPU of the same model."""
    profiles, speed = trial.scenario.profiles(), trial.stage.node.speed
    return max(
        alone_seconds(part.coming.program, profiles[part.gpu], speed, trial.programs)
        for part in trial.parts
    )
