"""The readers in C take the whole kept corpus, under the sanitizers of any compiler."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fuzz.inputs import kept, write
from tests.fuzz.native import ENVIRONMENT, PROGRAMS, build_replay, targets
from tests.fuzz.seeds import made

# Compilers run first, on a machine that may be busy.
pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="session")
def replay(once: Callable[..., Path]) -> Path:
    return once("fuzz_replay", build_replay) / PROGRAMS / "replay"


def run(replay: Path, *arguments: "str | Path") -> "subprocess.CompletedProcess[str]":
    command = [str(replay), *map(str, arguments)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, timeout=60)
    # The interposer repeats input that it does not understand.
    said = done.stderr.decode(errors="replace")
    return subprocess.CompletedProcess(command, done.returncode, "", said)


@pytest.mark.parametrize("target", targets())
def test_takes_everything_that_is_kept(target: str, replay: Path, tmp_path: Path) -> None:
    inputs = {**kept(target), **made(target)}
    assert inputs
    done = run(replay, target, *write(tmp_path, inputs))
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) >= len(inputs)


def test_says_which_targets_there_are(replay: Path) -> None:
    done = run(replay)
    assert done.returncode == 2
    assert done.stderr.split("targets:")[1].split() == targets()


def test_an_input_that_cannot_be_read_is_an_error(replay: Path, tmp_path: Path) -> None:
    assert run(replay, "frames", tmp_path / "nowhere").returncode == 1
