import json

import pytest

from nvshare.cli.lab.bench import bench
from nvshare.cli.lab.bench.group import machine, show


def test_every_line_says_what_it_is_from(capsys: pytest.CaptureFixture[str]) -> None:
    show("copies", lambda: iter([{"ns": 3}]), as_json=True)
    assert json.loads(capsys.readouterr().out) == {
        "bench": "copies",
        "ns": 3,
        "machine": machine(),
    }


def test_without_json_it_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    show("copies", lambda: iter([{"ns": 3, "what": "all"}]), as_json=False)
    assert capsys.readouterr().out == "copies: ns 3, what all\n"


def test_every_measurement_is_a_verb() -> None:
    assert {"all", "launch", "overhead", "scenarios", "simulator"} < set(bench.commands)
