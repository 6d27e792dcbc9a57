"""Scenarios with PyTorch programs that share emulated T4s, and the permitted cost of sharing.

The programs are shorter than those of the benchmark (docs/pytorch.md has the figures of the full
ones). A run that a busy machine has disturbed is repeated.
"""

from collections.abc import Callable
from typing import Any

import pytest

from nvshare.cli.lab.trial.outcome import figures_of
from nvshare.cli.lab.trial.play import prepare
from nvshare.cli.lab.trial.torch import TorchPrograms
from nvshare.lab.sim.catalog import load_known
from nvshare.lab.sim.figures import Figures
from nvshare.lab.sim.scenario import Program, Scenario
from nvshare.lab.sim.workload import phases_of
from nvshare.launch.preload import Wishes

from .environment import NEWEST, python

pytestmark = pytest.mark.timeout(900)

TRIES = 5
SPEED = 10.0


def programs(memory: str = "plain") -> TorchPrograms:
    return TorchPrograms(python(NEWEST), SPEED, memory)


def shortened(name: str, part: float) -> Scenario:
    """Return a known scenario with only a part of its iterations."""
    told = load_known(name)
    programs = tuple(_shortened(program, part) for program in told.program)
    return told.model_copy(update={"program": programs})


def _shortened(program: Program, part: float) -> Program:
    if program.workload is not None:
        iterations = phases_of(program)[-1].iterations
        return program.model_copy(update={"iterations": int(part * iterations)})
    phases = (
        phase.model_copy(update={"iterations": int(part * phase.iterations)})
        for phase in program.phase
    )
    return program.model_copy(update={"phase": tuple(phases)})


def once(
    told: Scenario, *, managed: bool = True, memory: str = "plain", wishes: Wishes | None = None
) -> Figures:
    with prepare(
        told, SPEED, managed=managed, plain=not managed, programs=programs(memory), wishes=wishes
    ) as trial:
        trial.run()
        return figures_of(trial, told.name)


def played(
    told: Scenario,
    is_good: Callable[[Figures], bool],
    memory: str = "plain",
    wishes: Wishes | None = None,
) -> dict[str, Any]:
    for _ in range(TRIES):
        figures = once(told, memory=memory, wishes=wishes)
        if is_good(figures):
            break
    assert is_good(figures), figures.as_json()
    return figures.as_json()


def slowest(figures: Figures) -> float:
    return min(client.iterations_per_s for client in figures.clients)


def test_four_that_do_not_fit_take_turns() -> None:
    # In a run of half the length, the time before the first turn is twice as large a part.
    line = played(shortened("T2a", 0.5), lambda figures: (figures.ratio or 9) <= 1.05)
    assert line["turn_changes"] >= 4
    assert line["moved_in"] > 20e9


@pytest.mark.parametrize("memory", ["pool", "handles"])
def test_two_whose_memory_cannot_be_managed_take_turns_explicitly(memory: str) -> None:
    """Without it the second program is refused: memory of pools and expandable segments would stay.

    Such a segment of 12 GB is 600 handles, each of which could be exported.
    """
    told = shortened("T2a", 0.5)
    pair = told.program[0].model_copy(update={"count": 2})
    told = told.model_copy(update={"gpus": "t4", "program": (pair,)})
    explicit = Wishes(allocation="explicit")
    line = played(told, lambda figures: (figures.ratio or 9) <= 1.05, memory, explicit)
    assert line["turn_changes"] >= 2
    assert line["moved_in"] > 10e9


def test_four_that_fit_and_compute_all_the_time_take_short_turns() -> None:
    line = played(shortened("T4", 0.1), lambda figures: (figures.ratio or 9) <= 1.03)
    assert (line["turn_changes"], line["moved_out"]) == (0, 0)
    assert line["slices"] > 0


def test_those_that_rest_most_of_the_time_do_not_notice_each_other() -> None:
    # The rate, and not the time: six programs that start at once on few processors start slowly.
    told = shortened("T6", 0.25)
    single = told.program[0].model_copy(update={"count": 1})
    alone = once(told.model_copy(update={"gpus": "t4", "program": (single,)}), managed=False)
    line = played(told, lambda figures: 1.03 * slowest(figures) >= slowest(alone))
    assert len(line["clients"]) == 6
    assert line["turn_changes"] == 0


@pytest.mark.parametrize("name", ["X2", "X3"])
def test_full_speed_is_back_within_three_seconds(name: str) -> None:
    line = played(
        shortened(name, 0.6),
        lambda figures: (
            figures.more["recovery_seconds"] is not None and figures.more["recovery_seconds"] < 3
        ),
    )
    assert line["turn_changes"] >= 1
    assert line["moved_out"] > 5e9
