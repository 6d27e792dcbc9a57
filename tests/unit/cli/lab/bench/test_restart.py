import json
from typing import Any

import pytest
from click.testing import CliRunner

from nvshare.cli.lab.bench import restart
from nvshare.cli.lab.bench.restart import measure
from nvshare.cli.lab.bench.restart_runs import Case, Run
from nvshare.cli.main import cli


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Case, float | None]]:
    """The runs that were made, none of them really."""
    made: list[tuple[Case, float | None]] = []

    def run(case: Case, patience: float | None = None) -> Run:
        made.append((case, patience))
        return Run(100.0 if patience is None else 125.0, 10, 0)

    monkeypatch.setattr(restart, "run", run)
    return made


def test_both_runs_and_their_ratio_are_in_one_line(runs: list[Any]) -> None:
    (line,) = measure([Case()])
    assert line["undisturbed_seconds"] == 100.0
    assert line["restarted_seconds"] == 125.0
    assert (line["lost_seconds"], line["ratio"]) == (25.0, 1.25)
    assert [patience is None for _, patience in runs] == [True, False]


def test_cases_that_differ_in_the_restart_alone_share_the_undisturbed_run(runs: list[Any]) -> None:
    cases = [Case(gap=gap, by=how) for gap in (0.1, 5.0) for how in ("term", "kill")]
    assert len(list(measure(cases))) == 4
    assert sum(patience is None for _, patience in runs) == 1
    list(measure([Case(programs=2), Case(programs=3), Case(kind="explicit"), Case(ranks=2)]))
    assert sum(patience is None for _, patience in runs) == 5


def test_programs_that_do_not_end_are_given_up_after_the_gap_and_a_while(runs: list[Any]) -> None:
    list(measure([Case(gap=10.0, speed=4.0)]))
    assert runs[-1][1] == 40.0 + 5 * 100.0


def test_the_command_tries_every_combination(runs: list[Any]) -> None:
    options = ["--programs", "2", "--programs", "8", "--gap", "1", "--gap", "20"]
    options += ["--signal", "kill", "--allocation", "explicit", "--speed", "4", "--wait", "1"]
    options += ["--ranks", "2"]
    result = CliRunner().invoke(cli, ["bench", "restart", *options, "--json"])
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    seen = [(line["programs"], line["gap_seconds"]) for line in lines]
    assert seen == [(2, 1.0), (2, 20.0), (8, 1.0), (8, 20.0)]
    others = ("signal", "allocation", "wait_seconds", "ranks")
    assert {tuple(line[name] for name in others) for line in lines} == {
        ("kill", "explicit", 1.0, 2)
    }
    assert runs
