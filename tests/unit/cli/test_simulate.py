import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

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


def test_a_picture_shows_one_policy(call: Call) -> None:
    result = call("simulate", "T1", "--svg", "x.svg", "--policy", "auto", "--policy", "off")
    assert result.exit_code == 2


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
