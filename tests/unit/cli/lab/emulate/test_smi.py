import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

import nvshare.cli.lab.emulate.smi as smi
from nvshare.lab.emulator.emulated_node import Node
from nvshare.lab.emulator.smi import Snapshot

Call = Callable[..., Result]


class StandIn:
    """A reader of snapshots that are numbered in place of a driver version."""

    def __init__(self, node: Node, libraries: Path) -> None:
        assert libraries.is_dir()
        self.node = node
        self.numbers: Iterator[int] = itertools.count(1)

    def read(self) -> Snapshot:
        return Snapshot(self.node.name, str(next(self.numbers)), ())


@pytest.fixture
def lab(call: Call, nodes: Path, library_folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    assert library_folder.is_dir()
    monkeypatch.setattr(smi, "Reader", StandIn)
    call("emulate", "up", "lab", "--gpus", "tiny")
    assert (nodes / "lab").is_dir()
    return "lab"


@pytest.fixture
def one_second_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Press Ctrl-C in the second pause."""
    pauses = itertools.count(1)

    def pause(_: float) -> None:
        if next(pauses) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", pause)


def test_a_table(call: Call, lab: str) -> None:
    result = call("emulate", "smi", lab)
    assert result.exit_code == 0
    assert "emulated node lab, driver 1" in result.output


def test_json(call: Call, lab: str) -> None:
    said = json.loads(call("emulate", "smi", lab, "--json").output)
    assert said == {"node": "lab", "driver_version": "1", "devices": []}


@pytest.mark.usefixtures("one_second_only")
def test_watching_in_json_is_a_line_per_reading(call: Call, lab: str) -> None:
    result = call("emulate", "smi", lab, "--json", "--watch")
    assert result.exit_code == 0
    versions = [json.loads(line)["driver_version"] for line in result.output.splitlines()]
    assert versions == ["1", "2"]


@pytest.mark.usefixtures("one_second_only")
def test_watching_ends_with_control_c(call: Call, lab: str) -> None:
    result = call("emulate", "smi", lab, "--watch")
    assert result.exit_code == 0
    assert "driver 2" in result.output
