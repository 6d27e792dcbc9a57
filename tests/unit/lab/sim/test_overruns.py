"""Programs whose kernels overrun their turns, beside others: these keep about their parts."""

import pytest

from nvshare.lab.sim.engine import Engine
from nvshare.lab.sim.scenario import Scenario

GB = 1_000_000_000
SECONDS = 1200.0


def program(name: str, kernel_seconds: float, memory: int = 11 * GB) -> dict[str, object]:
    """A program that computes until the end, in kernels of this length."""
    work = {"iterations": round(10 * SECONDS / kernel_seconds), "kernel_seconds": kernel_seconds}
    return {"name": name, "phase": [{"memory": memory, "copy_in": memory}, work]}


def run(*programs: dict[str, object], **settings: object) -> list[float]:
    """Return what each has computed."""
    scenario = {"name": "overruns", "gpus": "t4", "until": SECONDS, "settings": settings}
    engine = Engine(Scenario.model_validate({**scenario, "program": programs}), seed=1)
    return [record.computed for record in engine.run().records]


@pytest.mark.parametrize("others", [1, 2, 4])
def test_who_overruns_its_turns_threefold_costs_the_others_little(others: int) -> None:
    programs = [program("overruns", 30.0), *(program(f"{one}", 0.02) for one in range(others))]
    computed = run(*programs, mode="serial", turn_seconds=10.0)
    fair = sum(computed) / len(computed)
    assert min(computed[1:]) >= 0.8 * fair


@pytest.mark.parametrize("kernel_seconds", [0.5, 1.0, 2.5])
def test_who_overruns_its_slices_costs_the_other_nothing(kernel_seconds: float) -> None:
    """Both fit, and take slices of a second."""
    computed = run(program("overruns", kernel_seconds, GB), program("other", 0.02, GB))
    assert computed[1] >= 0.97 * sum(computed) / 2


def test_who_overrun_their_slices_cost_the_others_little() -> None:
    lengths = (2.5, 1.0, 0.02, 0.02)
    computed = run(*(program(f"{n}", length, GB) for n, length in enumerate(lengths)))
    assert min(computed) >= 0.88 * sum(computed) / len(computed)
