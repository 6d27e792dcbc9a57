import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

from tests.trace_rules import check_trace, slices_of

Call = Callable[..., Result]


def test_a_table(call: Call) -> None:
    result = call("simulate", "T1")
    assert result.exit_code == 0
    assert "add-1" in result.output


def test_json(call: Call) -> None:
    data = json.loads(call("simulate", "T2a", "--json").output)
    assert data["scenario"] == "T2a"
    assert len(data["clients"]) == 4


def test_several_policies(call: Call) -> None:
    lines = call("simulate", "T1", "--policy", "serial", "--policy", "auto/fifo", "--json").output
    names = [json.loads(line)["scenario"] for line in lines.splitlines()]
    assert names == ["T1/serial", "T1/auto/fifo"]


def test_a_picture(call: Call, tmp_path: Path) -> None:
    picture = tmp_path / "t1.svg"
    assert call("simulate", "T1", "--svg", str(picture)).exit_code == 0
    assert picture.read_text().startswith("<svg")


def test_a_picture_of_two_policies(call: Call, tmp_path: Path) -> None:
    picture = tmp_path / "t1.svg"
    policies = ("--policy", "auto", "--policy", "serial")
    assert call("simulate", "T1", "--svg", str(picture), *policies).exit_code == 0
    assert "T1/auto: " in picture.read_text()
    assert "T1/serial: " in picture.read_text()


def test_a_trace(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "t1.json"
    assert call("simulate", "T1", "--trace", str(file)).exit_code == 0
    trace = json.loads(file.read_text())
    check_trace(trace)
    assert trace["otherData"]["title"] == "two jobs of 12 GB, one per GPU"
    assert slices_of(trace, "add-1", "computing")


def test_a_picture_that_cannot_be_written(call: Call, tmp_path: Path) -> None:
    result = call("simulate", "T1", "--svg", str(tmp_path / "none" / "x.svg"))
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


def test_the_list(call: Call) -> None:
    assert "four jobs of 12 GB" in call("simulate", "--list").output


def test_no_scenario(call: Call) -> None:
    result = call("simulate")
    assert result.exit_code == 2
    assert "simulate --list" in result.stderr


def test_a_bad_file_is_bad_input(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text('name = "x"\ngpus = "t4"\n')
    result = call("simulate", str(file))
    assert result.exit_code == 2
    assert "program: is missing" in result.stderr
