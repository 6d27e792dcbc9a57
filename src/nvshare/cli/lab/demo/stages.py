"""The three trials that the demo shows at the same time, each on an emulated node of its own."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from nvshare.cli.lab.trial.outcome import figures_of
from nvshare.cli.lab.trial.play import prepare
from nvshare.cli.lab.trial.trial import STEP_S, Trial
from nvshare.lab.sim.catalog import load_known
from nvshare.lab.sim.figures import Figures
from nvshare.lab.sim.scenario import Scenario

# Without scheduling, an iteration takes longer than a whole turn. The demo waits for this many, so
# that there is a speed to show; but not for ever.
_LEAST_ITERATIONS = 3
_LONGEST_S = 900.0


@dataclass(frozen=True)
class Stages:
    """A job that has a GPU to itself; four on two GPUs under nvshare; the same four without."""

    alone: Trial
    shared: Trial
    unscheduled: Trial

    @property
    def all(self) -> tuple[Trial, Trial, Trial]:
        """All three."""
        return self.alone, self.shared, self.unscheduled

    def go_on(self, look: Callable[[], None]) -> None:
        """Run all three until nvshare is done, and there is a speed to compare it with."""
        for trial in self.all:
            trial.begin()
        while not (self.alone.is_over and self.shared.is_over and self.unscheduled.is_over):
            for trial in self.all:
                if not trial.is_over:
                    trial.step()
            if self.shared.is_over and not self.unscheduled.is_over and _says_enough(self):
                self.unscheduled.stop()
            look()
            time.sleep(STEP_S)

    def figures(self) -> tuple[Figures, Figures]:
        """Return the results of the four jobs with nvshare, and without."""
        (part,) = self.alone.parts
        baseline = part.result.seconds if part.result else None
        shared, unscheduled = (
            replace(figures_of(trial, trial.scenario.name), baseline_s=baseline)
            for trial in (self.shared, self.unscheduled)
        )
        return shared, unscheduled


def _says_enough(stages: Stages) -> bool:
    parts = stages.unscheduled.parts
    least = min(
        part.progress.done * part.progress.work.iterations for part in parts if part.progress
    )
    return least >= _LEAST_ITERATIONS


def scenario(iterations: int | None) -> Scenario:
    """Four jobs of 12 GB on two GPUs of 16 GB, of this many iterations."""
    told = load_known("T2a")
    if iterations is None:
        return told
    program = told.program[0].model_copy(update={"iterations": iterations})
    return told.model_copy(update={"program": (program,)})


@contextmanager
def open_stages(told: Scenario, speed: float) -> Iterator[Stages]:
    """Start everything, and clear it away at the end."""
    single = told.program[0].model_copy(update={"count": 1})
    alone = told.model_copy(update={"gpus": "t4", "program": (single,)})
    with ExitStack() as stack:
        yield Stages(
            stack.enter_context(prepare(alone, speed, managed=False, plain=True)),
            stack.enter_context(prepare(told, speed, managed=True)),
            stack.enter_context(prepare(told, speed, managed=False, limit=_LONGEST_S)),
        )
