"""Programs that grow together, step by step, where the host cannot hold all of them."""

from typing import Any

import pytest

from nvshare.core.effects import ReportKind
from nvshare.core.events import HostMemoryChanged
from nvshare.lab.sim.engine import Engine, Outcome
from nvshare.lab.sim.scenario import Scenario

from .making import GB

KERNEL = 0.2
# Each program fits on the GPU; the three of them need 37.5 GB.
SIZES = (3.0, 5.0, 7.0, 9.0, 11.0, 12.5)
LAST = 20.0


def grow(pauses: tuple[float, ...], limit: int, **settings: Any) -> Outcome:
    """Run three programs that compute for these seconds at their sizes, with a host limit."""
    phases = [
        {
            "memory": round(size * GB),
            "wait": 0.01,
            "iterations": round(seconds / KERNEL),
            "kernel_seconds": KERNEL,
        }
        for size, seconds in zip(SIZES, (*pauses, LAST), strict=True)
    ]
    programs = [{"name": "p", "arrival": i * 0.5, "phase": phases} for i in range(3)]
    data: dict[str, Any] = {"name": "test", "gpus": "t4", "program": programs, **settings}
    engine = Engine(Scenario.model_validate(data))
    for site in engine.sites:
        site.send(HostMemoryChanged(now=0.0, limit=limit * GB))
        site.deliver()
    return engine.run()


def refusals(outcome: Outcome) -> list[str]:
    (site,) = outcome.sites
    return [report.text for report in site.reports if report.kind is ReportKind.HOST_FULL]


@pytest.mark.parametrize("limit", [14, 18, 24])
@pytest.mark.parametrize("pause", [5.0, 12.0, 30.0, 60.0])
def test_who_grows_slowly_in_short_turns_is_refused_nothing(pause: float, limit: int) -> None:
    """One after the other they could all end, however long they stay at each size."""
    outcome = grow((pause,) * 5, limit, settings={"turn_seconds": 5.0})
    assert refusals(outcome) == []


@pytest.mark.parametrize("limit", [14, 18, 24])
@pytest.mark.parametrize("pause", [12.0, 60.0])
def test_nor_in_turns_of_the_usual_length(pause: float, limit: int) -> None:
    assert refusals(grow((pause,) * 5, limit)) == []


@pytest.mark.parametrize("limit", [18, 24])
@pytest.mark.parametrize(
    "pauses",
    [(5.0, 12.0, 30.0, 60.0, 90.0), (30.0, 5.0, 60.0, 12.0, 60.0)],
    ids=["longer", "mixed"],
)
def test_nor_if_pauses_vary(pauses: tuple[float, ...], limit: int) -> None:
    outcome = grow(pauses, limit, settings={"turn_seconds": 5.0})
    assert refusals(outcome) == []
