import json

import pytest
from click.testing import CliRunner

from nvshare.cli.lab.bench import simulator


def test_the_short_form_leaves_the_cluster_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulator, "_CASES", {"T1 to T6": ("T3",), "cluster-day": ("none",)})

    done = CliRunner().invoke(simulator.simulator, ["--short", "--json"], catch_exceptions=False)

    (line,) = map(json.loads, done.output.splitlines())
    assert (line["what"], line["gpus"], line["programs"]) == ("T1 to T6", 2, 2)
    assert line["simulated_s"] > 0
