import re
from pathlib import Path

import pytest

from nvshare.errors import BadInputError
from nvshare.lab.sim.scenario import load_file, parse_scenario

GOOD = """
name = "two"
gpus = "2xt4"
recovery = { after = "b", phase = 1 }
[settings]
mode = "serial"
turn_seconds = 10
[device.1]
mode = "off"
[[program]]
name = "a"
workload = "pytorch-add"
[[program]]
name = "b"
gpu = 1
phase = [{ memory = "1.5Gi", iterations = 3 }]
"""


def test_a_good_one() -> None:
    scenario = parse_scenario(GOOD, source="x")
    assert [profile.gpu.name for profile in scenario.profiles()] == ["Tesla T4"] * 2
    assert [scenario.settings_of(index).mode for index in (0, 1)] == ["serial", "off"]
    assert scenario.settings_of(1).turn_seconds == 10
    assert scenario.program[1].phase[0].memory == 3 << 29


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (('name = "two"\n', ""), "x: name: is missing"),
        (("2xt4", "2xt5"), 'x: gpus: there is no GPU profile called "t5"'),
        (("turn_seconds", "turn_secs"), "x: settings.turn_secs: there is no such field"),
        (("[device.1]", "[device.2]"), "x: device.2: there are only 2 GPUs"),
        (('mode = "off"', 'mode = "on"'), "x: device.1.mode: must be"),
        (("gpu = 1", "gpu = 2"), "x: program b: gpu: there are only 2 GPUs"),
        (("gpu = 1", "ranks = [0, 2]"), "x: program b: ranks: there are only 2 GPUs"),
        (("gpu = 1", "ranks = [1, 1]"), "x: program.1: ranks must be the numbers of two or more"),
        (("gpu = 1", "ranks = [1]"), "x: program.1: ranks must be the numbers of two or more"),
        (
            ("gpu = 1", "gpu = 1\nranks = [0, 1]"),
            "x: program.1: ranks and gpu both say on which GPUs",
        ),
        (("gpu = 1", "gpu = 1\ncompute = 101"), "x: program.1.compute: must be"),
        (("gpu = 1", 'gpu = 1\npriority = "low!"'), "x: program.1.priority: must be"),
        (("1.5Gi", "1.5Gb"), 'x: program.1.phase.0.memory: "1.5Gb" is not an amount of memory'),
        (("iterations = 3", "iterations = -3"), "x: program.1.phase.0.iterations: must be"),
        (("iterations = 3", "rate = 0"), "x: program.1.phase.0.rate: must be"),
        (
            ("iterations = 3", "rate = 1, idle = 1"),
            "x: program.1.phase.0: rate and idle both say when",
        ),
        (('workload = "pytorch-add"', ""), "x: program.0: must have either a workload or phases"),
        (('"pytorch-add"', '"add"'), "x: program.0.workload: must be"),
        (('after = "b"', 'after = "c"'), 'x: recovery.after: "c" is not the name of one program'),
        (("phase = 1 }", "phase = 2 }"), "x: recovery.phase: b has no phase 2"),
        (("[settings]", "[settings"), "x: not valid TOML"),
    ],
)
def test_an_error_names_the_field(change: tuple[str, str], error: str) -> None:
    assert change[0] in GOOD
    with pytest.raises(BadInputError, match=f"^{re.escape(error)}"):
        parse_scenario(GOOD.replace(*change), source="x")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="cannot be read"):
        load_file(tmp_path / "none.toml")


def test_another_policy_counts_on_every_gpu() -> None:
    changed = parse_scenario(GOOD, source="x").with_policy("auto/fifo")
    for index in (0, 1):
        assert changed.settings_of(index).mode == "auto"
        assert changed.settings_of(index).policy == "fifo"


@pytest.mark.parametrize("text", ["", "lifo", "auto/serial", "auto/fifo/fair"])
def test_an_unknown_policy(text: str) -> None:
    with pytest.raises(BadInputError, match="is not a way to share a GPU"):
        parse_scenario(GOOD, source="x").with_policy(text)
