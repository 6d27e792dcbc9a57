"""nvshare bench scenario, from the command line to its line of JSON, on small emulated GPUs."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nvshare.cli.main import cli
from nvshare.lab.sim.scenario import load_file

pytestmark = pytest.mark.timed

KEYS = [
    *("scenario", "on", "speed", "clients", "makespan_seconds", "mean_seconds"),
    *("baseline_seconds", "ideal_seconds"),
    *("ratio", "turn_changes", "moved_out", "moved_in", "moving_seconds", "slices"),
    "warnings",
]
MIB = 1 << 20

# Two that do not fit together; and one that comes later, grows, shrinks, rests, and runs along.
TWO_AND_ONE = """
name = "two-and-one"
gpus = "tiny"
speed = 10

[settings]
turn_seconds = 2.0

[[program]]
name = "large"
count = 2
startup = 1.0
phase = [
    { memory = "150Mi", copy_in = "60Mi" },
    { iterations = 250, kernel_seconds = 0.02, touch = "100Mi" },
]

[[program]]
name = "small"
arrival = 3.0
phase = [
    { memory = "10Mi", iterations = 10, kernels = 2, kernel_seconds = 0.01, idle = 0.1 },
    { wait = 0.5, memory = "20Mi", iterations = 10, kernel_seconds = 0.01, sync = true },
    { memory = "5Mi", iterations = 1, kernel_seconds = 0.01 },
]
"""


def played(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(cli, ["bench", "scenario", *arguments, "--json"])
    assert result.exit_code == 0, result.output
    line: dict[str, Any] = json.loads(result.stdout)
    return line


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "two-and-one.toml"
    path.write_text(TWO_AND_ONE)
    return str(path)


def test_it_happens_as_the_file_says(file: str) -> None:
    line = played(file)
    assert list(line) == KEYS
    assert (line["scenario"], line["on"], line["speed"]) == ("two-and-one", "emulator", 10)
    assert line["warnings"] == []
    assert [client["program"] for client in line["clients"]] == ["large-1", "large-2", "small"]
    one, other, small = (client["duration_seconds"] for client in line["clients"])
    # 250 kernels of 20 ms and a second of startup; the second program waits for the first's turn.
    assert line["baseline_seconds"] == pytest.approx(6.1, abs=1.0)
    assert line["ideal_seconds"] == pytest.approx(12.3 + 0.31, abs=0.3)
    assert line["makespan_seconds"] == max(one, other, small + 3.0)
    assert 7.5 < min(one, other) < max(one, other) < 25
    assert line["mean_seconds"] == pytest.approx((one + other + small) / 3, abs=0.01)
    # Turns of 2 s among 10 s of work, and a resting program gives up its turn earlier. Of 300 MiB,
    # about 80 do not fit, and come and go.
    assert 3 <= line["turn_changes"] <= 30
    changes = line["moved_out"] / (80 * MIB)
    assert 2 <= changes <= line["turn_changes"]
    assert line["moved_in"] <= line["moved_out"]
    assert line["moving_seconds"] > 0


def test_the_simulator_says_the_same(file: str) -> None:
    line = played(file, "--on", "simulator")
    assert [*line, "warnings"] == KEYS
    assert (line["on"], line["speed"]) == ("simulator", None)


def test_without_nvshare_the_driver_pages_and_the_end_is_extrapolated(file: str) -> None:
    line = played(file, "--unmanaged", "--limit", "9")
    assert [*KEYS, "extrapolated"] == list(line)
    assert line["scenario"] == "two-and-one/unmanaged"
    assert line["extrapolated"] is True
    assert line["turn_changes"] == 0
    assert line["ratio"] > 2
    assert line["moved_in"] > 400 * MIB


def test_another_mode_and_speed(file: str) -> None:
    line = played(file, "--mode", "serial/fifo", "--speed", "20")
    assert (line["scenario"], line["speed"]) == ("two-and-one/serial/fifo", 20)


def test_the_time_until_full_speed(tmp_path: Path) -> None:
    path = tmp_path / "recovers.toml"
    path.write_text(
        """
        name = "recovers"
        gpus = "tiny"
        speed = 10
        recovery = { after = "short" }
        [settings]
        turn_seconds = 2.0
        [[program]]
        name = "long"
        phase = [{ memory = "150Mi" }, { wait = 0.1, iterations = 500, kernel_seconds = 0.02 }]
        [[program]]
        name = "short"
        arrival = 1.0
        phase = [{ memory = "150Mi" }, { wait = 0.1, iterations = 150, kernel_seconds = 0.02 }]
        """
    )
    assert load_file(path).recovery
    line = played(str(path))
    assert list(line) == [*KEYS, "recovery_seconds"]
    # 80 MiB are to come back, and the sampling is coarse.
    assert 0 <= line["recovery_seconds"] < 1.5


def test_what_the_simulator_cannot_be_asked(file: str) -> None:
    result = CliRunner().invoke(
        cli, ["bench", "scenario", file, "--on", "simulator", "--unmanaged"]
    )
    assert result.exit_code == 2
    assert "are for the emulator" in result.stderr


def test_a_scenario_that_is_too_large_for_the_emulator() -> None:
    result = CliRunner().invoke(cli, ["bench", "scenario", "ten-hours"])
    assert result.exit_code == 2
    assert "cannot be played on the emulator" in result.stderr


def test_a_program_that_fails_says_why(tmp_path: Path) -> None:
    path = tmp_path / "fails.toml"
    phase = '[{ memory = "300Mi", iterations = 1 }]'
    path.write_text(f'name = "x"\ngpus = "tiny"\n[[program]]\nname = "p"\nphase = {phase}\n')
    result = CliRunner().invoke(cli, ["bench", "scenario", str(path)])
    assert result.exit_code == 1
    assert "CUDA_ERROR_OUT_OF_MEMORY" in result.stderr
