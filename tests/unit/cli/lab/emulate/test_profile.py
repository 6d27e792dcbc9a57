from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nvshare.lab.emulator.profile import load_file, parse_profile
from nvshare.probe.report import Report, write_report
from tests.unit.probe.published import published


@pytest.fixture
def report(tmp_path: Path) -> Path:
    file = tmp_path / "report.json"
    file.write_text(write_report(Report("0.1.0", "2026-03-05", False, 1.0, False, published())))
    return file


def test_a_profile_on_standard_output(call: Callable[..., Result], report: Path) -> None:
    result = call("emulate", "profile", str(report))
    assert result.exit_code == 0
    assert parse_profile(result.output, source="output").bus.duplex == 1.7


def test_a_profile_in_a_file(call: Callable[..., Result], report: Path, tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    result = call("emulate", "profile", str(report), "-o", str(file))
    assert load_file(file).bus.duplex == 1.7
    assert result.output.endswith(f"nvshare emulate --gpus {file} -- COMMAND\n")


def test_a_file_that_cannot_be_written(call: Callable[..., Result], report: Path) -> None:
    result = call("emulate", "profile", str(report), "-o", "/nowhere/my.toml")
    assert result.exit_code == 1
    assert "cannot be written" in result.output


def test_something_else_than_a_report(call: Callable[..., Result], tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text("{}")
    result = call("emulate", "profile", str(file))
    assert result.exit_code == 2
    assert "nvshare doctor --gpu --output" in result.output
