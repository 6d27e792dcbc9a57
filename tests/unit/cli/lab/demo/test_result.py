from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from nvshare.cli.lab.demo.result import draw
from nvshare.cli.lab.trial.play import on_simulator
from nvshare.lab.sim.catalog import load_known
from nvshare.lab.sim.figures import Figures


def drawn(shared: Figures, unscheduled: Figures) -> str:
    file = StringIO()
    Console(width=120, file=file).print(draw(shared, unscheduled))
    return file.getvalue()


@pytest.fixture
def shared() -> Figures:
    return on_simulator(load_known("T2a"), "T2a")


def test_both_stand_beside_baseline_and_ideal(shared: Figures) -> None:
    text = drawn(shared, replace(shared, makespan_s=54321.0, more={"extrapolated": True}))
    assert "~54,321 s" in text
    assert "161 s" in text  # one alone
    assert "323 s" in text  # twice that
    for name in ("add-1", "add-4", "turn changes", "memory moved"):
        assert name in text


def test_what_has_really_ended_is_not_marked(shared: Figures) -> None:
    assert "~" not in drawn(shared, shared)
