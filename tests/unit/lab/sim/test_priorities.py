"""Programs of three priorities that compute all the time: what each of them gets."""

import pytest

from nvshare.lab.sim.engine import Engine
from nvshare.lab.sim.scenario import Scenario

GB = 1_000_000_000
SECONDS = 600.0


def parts(gigabytes: int, *priorities: str) -> list[float]:
    """Return which part of the time programs of this size have computed."""
    memory = gigabytes * GB
    programs = [
        {
            "name": one,
            "priority": one,
            "phase": [
                {"memory": memory, "copy_in": memory},
                {"iterations": 10**7, "kernel_seconds": 0.02},
            ],
        }
        for one in priorities
    ]
    scenario = {"name": "ranks", "gpus": "t4", "until": SECONDS, "program": programs}
    outcome = Engine(Scenario.model_validate(scenario), seed=1).run()
    return [record.computed / SECONDS for record in outcome.records]


def test_in_slices_each_has_a_part_by_its_weight_and_a_twentieth_at_least() -> None:
    high, normal, low = parts(2, "high", "normal", "low")
    assert high == pytest.approx(20 / 22, abs=0.02)
    assert normal == pytest.approx(1 / 22, abs=0.01)
    assert low == pytest.approx(1 / 22, abs=0.01)


def test_two_priorities_share_twenty_to_one() -> None:
    high, low = parts(2, "high", "low")
    assert (high, low) == pytest.approx((20 / 21, 1 / 21), abs=0.02)


def test_in_turns_for_memory_nobody_starves() -> None:
    high, normal, low = parts(11, "high", "normal", "low")
    assert high > 0.8
    assert min(normal, low) > 0.02
