from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Call = Callable[..., Result]

pytestmark = pytest.mark.usefixtures("library_folder")


def sh(script: str) -> tuple[str, ...]:
    return ("--", "/bin/sh", "-c", script)


def test_the_command_is_on_a_node_that_is_gone_afterwards(
    call: Call, nodes: Path, library_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    script = (
        f'echo "$LD_LIBRARY_PATH" >{out}; echo "$NVSHARE_EMULATOR_SPEED" >>{out};'
        f'cat "$NVSHARE_EMULATOR_NODE/node.conf" >>{out}'
    )
    result = call("emulate", "--gpus", "tiny,t4", "--speed", "100", *sh(script))
    assert result.exit_code == 0
    path, speed, *conf = out.read_text().splitlines()
    assert path.split(":")[0] == str(library_folder)
    assert speed == "100"
    assert conf.count("[gpu]") == 2
    assert list(nodes.iterdir()) == []


def test_defaults(call: Call, nodes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert call("emulate", *sh(f'cat "$NVSHARE_EMULATOR_NODE/node.conf" >{out}')).exit_code == 0
    conf = out.read_text().splitlines()
    assert {"speed=1", "data=on", "name=Tesla T4"} < set(conf)
    assert conf.count("[gpu]") == 1
    assert list(nodes.iterdir()) == []


def test_switches_reach_the_node(call: Call, nodes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    script = f'cat "$NVSHARE_EMULATOR_NODE/node.conf" >{out}'
    switches = ("--data", "off", "--host-memory", "8Gi")
    call("emulate", *switches, *sh(script))
    shown = set(out.read_text().splitlines())
    assert {"data=off", f"host_bytes={8 << 30}"} < shown
    assert list(nodes.iterdir()) == []


def test_a_size_that_is_none_is_explained(call: Call) -> None:
    result = call("emulate", "--host-memory", "8GB", *sh("true"))
    assert result.exit_code == 2
    assert '"8GB" is not an amount of memory' in result.output


def test_the_exit_code_is_passed_on(call: Call, nodes: Path) -> None:
    assert call("emulate", *sh("exit 42")).exit_code == 42
    assert call("emulate", *sh("kill -TERM $$")).exit_code == 128 + 15
    assert call("emulate", "--", "/does/not/exist").exit_code == 127
    assert list(nodes.iterdir()) == []


def test_options_of_the_command_are_its_own(call: Call, nodes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    script = f'echo "$@" >{out}'
    call("emulate", *sh(script), "sh", "--gpus", "9xt4", "--", "--help")
    assert out.read_text() == "--gpus 9xt4 -- --help\n"
    assert list(nodes.iterdir()) == []


def test_on_a_node_that_is_up(call: Call, nodes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    call("emulate", "up", "lab", "--gpus", "tiny")
    call("emulate", "--node", "lab", *sh(f'echo "$NVSHARE_EMULATOR_NODE" >{out}'))
    assert out.read_text().strip() == str(nodes / "lab")
    assert (nodes / "lab").is_dir()


def test_on_a_node_that_is_not_up(call: Call, nodes: Path) -> None:
    result = call("emulate", "--node", "lab", *sh("true"))
    assert result.exit_code == 2
    assert 'no emulated node called "lab"' in result.stderr
    assert list(nodes.iterdir()) == []


def test_without_anything_it_is_help(call: Call) -> None:
    result = call("emulate")
    assert result.exit_code == 0
    assert "-- COMMAND…" in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--gpus", "t4"], "no command to run"),
        (["--"], "no command to run"),
        (["python", "x.py"], "put -- before it: nvshare emulate -- python"),
        (["up", "--", "true"], "up takes no command"),
        (["--gpus", "t4", "up"], "--gpus belongs after up"),
        (["--node", "lab", "--gpus", "t4", "--", "true"], "--gpus describes a new node"),
        (["--gpus", "t5", "--", "true"], "the known profiles are"),
        (["--speed", "0", "--", "true"], "not in the range"),
        (["--speed", "nan", "--", "true"], "'nan' is not a number"),
        (["--data", "maybe", "--", "true"], "'maybe' is not one of"),
    ],
)
def test_bad_input(call: Call, nodes: Path, arguments: list[str], said: str) -> None:
    result = call("emulate", *arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert list(nodes.iterdir()) == []
