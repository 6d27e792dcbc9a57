"""The simulator against the emulated GPU, without scheduling: within 5 %.

Programs start one after the other on a real machine, and a busy machine makes them late, which
shows at high speeds. So a disturbed run is repeated.
"""

from collections.abc import Callable

import pytest

from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.workload import Run
from nvshare.lab.sim.engine import simulate
from nvshare.lab.sim.scenario import Scenario

pytestmark = pytest.mark.timed

MakeNode = Callable[..., Node]
Programs = tuple[tuple[str, int], ...]
TRIES = 4
TOLERANCE = 0.05

ADD, SMALL, IDLE = "pytorch-add", "pytorch-add-small", "pytorch-add-idle-small"


def simulated(programs: Programs) -> list[float]:
    listed = [
        {"name": str(number), "workload": name, "iterations": iterations}
        for number, (name, iterations) in enumerate(programs)
    ]
    scenario = Scenario.model_validate(
        {"name": "agreement", "gpus": "t4", "settings": {"mode": "off"}, "program": listed}
    )
    outcome = simulate(scenario)
    return [record.duration(outcome.ended) for record in outcome.records]


def emulated(node: Node, programs: Programs) -> list[float]:
    options = ("--managed", "--iterations")
    runs = [Run(node, name, *options, str(iterations)) for name, iterations in programs]
    return [run.result(100).seconds for run in runs]


@pytest.mark.parametrize(
    ("programs", "speed"),
    [
        pytest.param(((ADD, 1000),), 50, id="one alone"),
        pytest.param(((SMALL, 10000),) * 2, 50, id="two that fit"),
        pytest.param(((SMALL, 5000),) * 3, 50, id="three that fit"),
        pytest.param(((ADD, 20),) * 2, 100, id="two that do not fit"),
        pytest.param(((ADD, 15),) * 3, 100, id="three that do not fit"),
        pytest.param(((ADD, 100), (SMALL, 10000)), 100, id="a large and a small one"),
        # Sleepers are late by the machine's own delay, times the speed.
        pytest.param(((IDLE, 200),) * 3, 5, id="three that rest"),
    ],
)
def test_they_agree(make_node: MakeNode, programs: Programs, speed: int) -> None:
    wanted = sorted(simulated(programs))
    for _ in range(TRIES):
        node = make_node("t4", speed=speed, data="off")
        got = sorted(emulated(node, programs))
        if got == pytest.approx(wanted, rel=TOLERANCE):
            break
    assert got == pytest.approx(wanted, rel=TOLERANCE)
