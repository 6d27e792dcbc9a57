"""A test that fails beside others and passes alone has passed; one that fails twice has not."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.again import MOST, judged, remembering

# Fails until it runs for the second time.
FLAKY = """
from pathlib import Path

def test_flaky():
    seen = Path(__file__).with_suffix(".seen")
    known = seen.exists()
    seen.touch()
    assert known

def test_good():
    pass
"""
BROKEN = "def test_broken():\n    assert False\n"
MANY = (
    "import pytest\n\n@pytest.mark.parametrize('n', range({}))\ndef test_many(n):\n    assert 0\n"
)


class Runs:
    """The tests that pytest was told to run, and its output."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commands: list[Sequence[str]] = []

    def run(self, words: Sequence[str]) -> int:
        self.commands.append(words)
        # To import the plugins of this project's tests takes longer than the tests.
        environ = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *words], cwd=self.folder, env=environ
        ).returncode

    def verdict(self, source: str) -> int:
        (self.folder / "pytest.ini").write_text("[pytest]\n")
        (self.folder / "test_it.py").write_text(source)
        notes = self.folder / "notes"
        return judged(self.run([".", *remembering(notes)]), notes, self.run)


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def test_what_passes_alone_has_passed(runs: Runs, capfd: pytest.CaptureFixture[str]) -> None:
    assert runs.verdict(FLAKY) == 0
    assert runs.commands[1:] == [["test_it.py::test_flaky"]]
    assert capfd.readouterr().out.splitlines()[-2:] == [
        "flaky: test_it.py::test_flaky",
        "1 failed at first, passed alone",
    ]


def test_what_fails_twice_has_failed(runs: Runs) -> None:
    assert runs.verdict(BROKEN) == 1
    assert runs.commands[1:] == [["test_it.py::test_broken"]]


def test_many_failures_are_no_accident(runs: Runs) -> None:
    assert runs.verdict(MANY.format(MOST + 1)) == 1
    assert len(runs.commands) == 1


@pytest.mark.parametrize(("source", "code"), [("def test_good():\n    pass\n", 0), ("", 5)])
def test_nothing_that_failed_is_run_again(runs: Runs, source: str, code: int) -> None:
    assert runs.verdict(source) == code
    assert len(runs.commands) == 1


def test_old_notes_are_forgotten(runs: Runs) -> None:
    runs.verdict(BROKEN)
    runs.commands.clear()
    assert runs.verdict(FLAKY) == 0
    assert runs.commands[1:] == [["test_it.py::test_flaky"]]
