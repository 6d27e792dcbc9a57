"""The machine in a program of its own, under the sanitizers, fed with arbitrary events."""

import subprocess
from pathlib import Path

import pytest

from nvshare.machine import Event, State

ROOT = Path(__file__).parents[3]
FLAGS = ["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror"]
SANITIZER = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("program") / "machine_check"
    folder = ROOT / "native" / "machine"
    sources = [ROOT / "native" / "tests" / "machine_check.c", *sorted(folder.glob("*.c"))]
    command = ["cc", *FLAGS, *SANITIZER, f"-I{folder}", *map(str, sources), "-o", str(made)]
    subprocess.run(command, check=True, timeout=120)
    return made


@pytest.mark.parametrize("seed", range(5))
def test_any_inputs(program: Path, seed: int) -> None:
    command = [str(program), str(seed), "100000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    pairs, most = map(int, done.stdout.split())
    # It goes through all: every state sees every event, and an invalid one.
    assert pairs == len(State) * (len(Event) + 1)
    # The longest list there is. A longer one may need more room in struct machine_actions.
    assert most <= 8
