"""Programs of two ranks on two emulated GPUs take turns as wholes, and keep their data."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nvshare.cli.lab.bench.gangs import measure
from nvshare.cli.main import cli

pytestmark = pytest.mark.timed

# Ranks of 150 MiB: one of them fits on a GPU of 256 MiB.
GANGS = """
name = "small-gangs"
gpus = "2xtiny"
speed = 5

[settings]
turn_seconds = 2.0
revoke_patience = 20.0

[[program]]
name = "gang"
count = 2
ranks = [0, 1]
phase = [{ memory = "150Mi", iterations = 250, kernel_seconds = 0.02 }]
"""


def played(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(cli, ["bench", *arguments, "--json"])
    assert result.exit_code == 0, result.output
    line: dict[str, Any] = json.loads(result.stdout)
    return line


@pytest.mark.parametrize("crossed", [False, True])
def test_turns_change_often_and_nobody_is_locked_up(crossed: bool) -> None:
    # A rank whose memory was changed fails, and so does the measurement.
    (line,) = measure(changes=60, crossed=crossed)
    assert line["turn_changes"] >= 60
    assert line["interlocks"] == 0


def test_ranks_of_a_scenario_share_gpus_that_one_of_them_fills(tmp_path: Path) -> None:
    file = tmp_path / "gangs.toml"
    file.write_text(GANGS)
    line = played("scenario", str(file))
    assert [client["index"] for client in line["clients"]] == [0, 1, 0, 1]
    assert line["turn_changes"] >= 4
    assert line["moved_out"] > 0
    # On a machine with other work as well. After one interlock it would be 4 and more.
    assert line["ratio"] < 2.0


def test_ranks_that_no_program_on_the_emulator_can_play_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "gangs.toml"
    file.write_text(GANGS.replace("kernel_seconds = 0.02", 'touch = "10Mi"'))
    result = CliRunner().invoke(cli, ["bench", "scenario", str(file)])
    assert result.exit_code == 2
    assert "one phase, with memory, iterations, kernels and kernel_seconds" in result.output
