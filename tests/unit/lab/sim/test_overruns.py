"""Programs whose kernels overrun their turns, beside others: these keep about their parts."""

import pytest

from nvshare.lab.sim.engine import Engine
from nvshare.lab.sim.scenario import Scenario

GB = 1_000_000_000
SECONDS = 1200.0


def program(name: str, kernel_seconds: float) -> dict[str, object]:
    """A program that computes until the end, in kernels of this length."""
    work = {"iterations": round(10 * SECONDS / kernel_seconds), "kernel_seconds": kernel_seconds}
    return {"name": name, "phase": [{"memory": 11 * GB, "copy_in": 11 * GB}, work]}


@pytest.mark.parametrize("others", [1, 2, 4])
def test_who_overruns_its_turns_threefold_costs_the_others_little(others: int) -> None:
    programs = [program("overruns", 30.0), *(program(f"{one}", 0.02) for one in range(others))]
    settings = {"mode": "serial", "turn_seconds": 10.0}
    scenario = {"name": "overruns", "gpus": "t4", "until": SECONDS, "settings": settings}
    engine = Engine(Scenario.model_validate({**scenario, "program": programs}), seed=1)
    computed = [record.computed for record in engine.run().records]
    fair = sum(computed) / len(computed)
    assert min(computed[1:]) >= 0.8 * fair
