from dataclasses import replace

import pytest

from nvshare.cli.lab.bench.scenarios import LEFT_OUT, REALLY, TOLERANCES, compare
from nvshare.cli.lab.trial.play import on_simulator
from nvshare.lab.sim.catalog import known_scenarios, load_known


def test_all_that_is_named_exists() -> None:
    assert set(REALLY) | set(LEFT_OUT) <= set(known_scenarios())
    assert set(TOLERANCES) <= set(REALLY)


@pytest.mark.parametrize(("factor", "within"), [(1.0, True), (1.009, True), (0.985, False)])
def test_what_is_compared(factor: float, within: bool) -> None:
    simulated = on_simulator(load_known("T1"), "T1")
    emulated = replace(simulated, makespan_s=factor * simulated.makespan_s)
    line = compare(emulated, simulated)
    assert (line["agreement"], line["within"]) == ("T1", within)
    assert line["difference"] == pytest.approx(factor - 1, abs=1e-4)
