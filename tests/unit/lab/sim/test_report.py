import json

import pytest
from rich.console import Console

from nvshare.cli.lab import figures_table as table
from nvshare.lab.sim.report import Summary, summarise

from .making import GB, program, run

# The same keys as a run on the emulator has.
KEYS = [
    *("scenario", "on", "speed", "clients", "makespan_seconds", "mean_seconds"),
    *("baseline_seconds", "ideal_seconds"),
    *("ratio", "turn_changes", "moved_out", "moved_in", "moving_seconds", "slices"),
]


@pytest.fixture
def summary() -> Summary:
    return summarise(run({**program(10 * GB, 3000), "count": 2}, program(0, 50, arrival=5.0)))


def test_the_keys_and_their_order(summary: Summary) -> None:
    data = json.loads(json.dumps(summary.as_json()))
    assert list(data) == KEYS
    assert list(data["clients"][0]) == ["program", "index", "duration_seconds", "iterations_per_s"]
    assert (data["on"], data["speed"]) == ("simulator", None)


def test_sums(summary: Summary) -> None:
    first, second, third = summary.clients
    assert summary.makespan_s == max(first.duration_s, second.duration_s)
    total = first.duration_s + second.duration_s + third.duration_s
    assert summary.mean_s == pytest.approx(total / 3)
    # Alone: a context, a pause, 3,000 kernels. The third one takes half a second of the GPU's time.
    assert summary.baseline_s == pytest.approx(30.081)
    assert summary.ideal_s == pytest.approx(2 * 30.08 + 0.58, abs=0.01)
    assert summary.ratio == pytest.approx(summary.makespan_s / (2 * 30.08 + 0.58), abs=0.001)
    assert summary.turn_changes >= 2
    assert 0.9 < summary.utilisation <= 1.0


def test_a_simulation_that_was_cut_off_is_compared_with_nothing() -> None:
    summary = summarise(run(program(0, 1000), until=5.0))
    assert summary.makespan_s == 5.0
    assert (summary.baseline_s, summary.ideal_s, summary.ratio) == (None, None, None)
    assert summary.as_json()["ratio"] is None


def drawn(*summaries: Summary) -> str:
    console = Console(width=100)
    with console.capture() as capture:
        console.print(table.draw(summaries))
    return capture.get()


def test_one_is_drawn_with_its_programs(summary: Summary) -> None:
    text = drawn(summary)
    assert "p-1" in text
    assert f"{summary.ratio:.3f}" in text


def test_several_are_drawn_beside_each_other(summary: Summary) -> None:
    text = drawn(summary, summary)
    assert "p-1" not in text
    assert text.count(f"{summary.ratio:.3f}") == 2


def test_nobody_reads_a_table_of_a_thousand_programs() -> None:
    summary = summarise(run({**program(0, 1), "count": 70, "every": 1.0}))
    assert "and 10 more programs" in drawn(summary)


def test_a_gpu_that_nobody_uses() -> None:
    summary = summarise(run(program(0, 10), gpus="2xt4"))
    assert summary.turn_changes == 0
