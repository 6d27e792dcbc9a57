"""The simulator against real processes and a real daemon on the emulated GPU: within 5 %.

Programs alone and without scheduling are compared in tests/integration/sim. A run that a busy
machine has disturbed is repeated.
"""

from typing import Any

import pytest

from nvshare.cli.lab.trial.outcome import figures_of
from nvshare.cli.lab.trial.play import on_simulator, prepare
from nvshare.lab.sim.scenario import Scenario

pytestmark = pytest.mark.timed

TRIES = 4
TOLERANCE = 0.05

ADD = {"workload": "pytorch-add", "startup": 6.0}
GROWING = {
    "name": "growing",
    "startup": 6.0,
    "phase": [
        {"memory": "748Mi", "copy_in": "748Mi", "iterations": 1000},
        {"memory": "11968Mi", "touch": "8976Mi", "iterations": 500},
        {"memory": "748Mi", "iterations": 1000},
    ],
}
BURSTS = {
    "name": "notebook",
    "arrival": 8.0,
    "phase": [
        {"memory": "8G", "iterations": 4, "kernels": 25, "kernel_seconds": 0.04, "idle": 20.0}
    ],
}
RESTING = {"name": "resting", "workload": "pytorch-add-idle-small", "iterations": 300}


def scenario(*programs: dict[str, Any], speed: float = 20, turn_seconds: float = 10.0) -> Scenario:
    settings = {"turn_seconds": turn_seconds}
    told = {"name": "short", "gpus": "t4", "speed": speed, "settings": settings}
    return Scenario.model_validate({**told, "program": programs})


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(
            scenario({**ADD, "name": "add", "count": 2, "iterations": 800}), id="two take turns"
        ),
        pytest.param(
            scenario({**ADD, "name": "add", "count": 3, "iterations": 800}), id="three take turns"
        ),
        pytest.param(scenario({**ADD, "name": "add", "iterations": 800}, GROWING), id="one grows"),
        pytest.param(scenario({**RESTING, "count": 2}, speed=10), id="two that rest"),
        # It ends a fifth later if each burst waits for the end of a turn.
        pytest.param(
            scenario({**ADD, "name": "add", "iterations": 2500}, BURSTS, turn_seconds=60.0),
            id="one computes in bursts",
        ),
    ],
)
def test_they_agree(told: Scenario) -> None:
    wanted = on_simulator(told, "x").makespan_s
    for _ in range(TRIES):
        with prepare(told, told.speed, managed=True) as trial:
            trial.run()
            got = figures_of(trial, "x").makespan_s
        if got == pytest.approx(wanted, rel=TOLERANCE):
            break
    assert got == pytest.approx(wanted, rel=TOLERANCE)
