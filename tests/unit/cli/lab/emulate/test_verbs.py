"""The small verbs: up, down, ls, env and profiles."""

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nvshare.lab.emulator.profile import known_profiles

Call = Callable[..., Result]


def test_up_and_down_with_the_default_name(call: Call, nodes: Path) -> None:
    result = call("emulate", "up", "--gpus", "2xtiny")
    assert result.exit_code == 0
    assert "GPU 1: nvshare tiny" in result.output
    assert (nodes / "default" / "node.conf").is_file()
    assert call("emulate", "down").exit_code == 0
    assert list(nodes.iterdir()) == []


def test_up_twice_is_bad_input(call: Call, nodes: Path) -> None:
    assert call("emulate", "up", "lab").exit_code == 0
    result = call("emulate", "up", "lab")
    assert result.exit_code == 2
    assert "nvshare emulate down lab" in result.stderr
    assert (nodes / "lab").is_dir()


def test_a_wrong_profile_file_is_named_with_its_field(
    call: Call, nodes: Path, tmp_path: Path
) -> None:
    path = tmp_path / "my.toml"
    path.write_text("[gpu]\nname = 5\n")
    result = call("emulate", "up", "--gpus", f"2x{path}")
    assert result.exit_code == 2
    assert f"{path}: gpu.name: must be a valid string" in result.stderr
    assert list(nodes.iterdir()) == []


@pytest.mark.parametrize("verb", ["down", "env", "smi"])
def test_a_node_that_is_not_up_is_bad_input(call: Call, nodes: Path, verb: str) -> None:
    result = call("emulate", verb, "lab")
    assert result.exit_code == 2
    assert "nvshare emulate up lab" in result.stderr
    assert list(nodes.iterdir()) == []


def test_ls_without_a_node(call: Call, nodes: Path) -> None:
    assert "no emulated node" in call("emulate", "ls").output
    assert list(nodes.iterdir()) == []


def test_ls_shows_nodes_even_beside_a_damaged_one(call: Call, nodes: Path) -> None:
    call("emulate", "up", "lab", "--gpus", "2xtiny,t4", "--speed", "50")
    call("emulate", "up", "broken")
    (nodes / "broken" / "node.conf").write_text("?")
    result = call("emulate", "ls")
    words = " ".join(result.output.split())
    assert result.exit_code == 0
    assert "2x nvshare tiny" in words
    assert "broken" in words


def test_env_is_for_eval(
    call: Call, nodes: Path, library_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/has space:/b")
    call("emulate", "up", "lab", "--speed", "0.5")
    lines = call("emulate", "env", "lab").output
    shown = subprocess.run(
        ["/bin/sh", "-c", f"eval {shlex.quote(lines)}; env"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert f"LD_LIBRARY_PATH={library_folder}:/has space:/b" in shown
    assert f"LD_PRELOAD={library_folder}/libcudart.so.12 {library_folder}/libcudart.so.13" in shown
    assert f"NVSHARE_EMULATOR_NODE={nodes / 'lab'}" in shown
    assert "NVSHARE_EMULATOR_SPEED=0.5" in shown


def test_profiles_lists_all(call: Call) -> None:
    lines = call("emulate", "profiles").output.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("│")] == known_profiles()
    told = [json.loads(line) for line in call("emulate", "profiles", "--json").output.splitlines()]
    assert [one["profile"] for one in told] == known_profiles()
