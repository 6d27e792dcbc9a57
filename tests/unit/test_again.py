"""A test that fails beside others and passes alone has passed; one that fails twice has not.

Nor has a run with many of the first kind.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.again import MOST, MOST_FLAKY, judged, remembering

# Each fails until it runs for the second time.
FLAKY = """
from pathlib import Path
import pytest

@pytest.mark.parametrize("n", range({}))
def test_flaky(n):
    seen = Path(__file__).with_suffix(f".{{n}}")
    known = seen.exists()
    seen.touch()
    assert known

def test_good():
    pass
"""
GOOD = "def test_good():\n    pass\n"
BROKEN = "def test_broken():\n    assert False\n"
MANY = (
    "import pytest\n\n@pytest.mark.parametrize('n', range({}))\ndef test_many(n):\n    assert 0\n"
)


class Runs:
    """The tests that pytest was told to run, and its output."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commands: list[Sequence[str]] = []
        self.first = 0

    def run(self, words: Sequence[str]) -> int:
        self.commands.append(words)
        # To import the plugins of this project's tests takes longer than the tests.
        environ = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *words], cwd=self.folder, env=environ
        ).returncode

    def verdict(self, *sources: str) -> int:
        """Run the tests of each source as one part."""
        (self.folder / "pytest.ini").write_text("[pytest]\n")
        parts = []
        for number, source in enumerate(sources, 1):
            name = f"test_{number}.py"
            (self.folder / name).write_text(source)
            notes = self.folder / f"notes-{number}"
            parts.append((self.run([name, *remembering(notes)]), notes))
        self.first = len(parts)
        return judged(parts, self.run)

    @property
    def second(self) -> list[Sequence[str]]:
        """What was run again."""
        return self.commands[self.first :]


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def test_what_passes_alone_has_passed(runs: Runs, capfd: pytest.CaptureFixture[str]) -> None:
    assert runs.verdict(FLAKY.format(MOST_FLAKY), GOOD) == 0
    names = [f"test_1.py::test_flaky[{n}]" for n in range(MOST_FLAKY)]
    assert runs.second == [names]
    assert capfd.readouterr().out.splitlines()[-MOST_FLAKY - 1 :] == [
        *(f"flaky: {name}" for name in names),
        f"{MOST_FLAKY} failed at first, passed alone",
    ]


def test_more_flaky_tests_than_chance_explains_fail_the_run_and_are_named(
    runs: Runs, capfd: pytest.CaptureFixture[str]
) -> None:
    # In both parts together.
    assert runs.verdict(FLAKY.format(MOST_FLAKY), FLAKY.format(1)) == 1
    names = [f"test_1.py::test_flaky[{n}]" for n in range(MOST_FLAKY)]
    names.append("test_2.py::test_flaky[0]")
    assert runs.second == [names]
    said = capfd.readouterr().out
    assert [line for line in said.splitlines() if line.startswith("flaky: ")] == [
        f"flaky: {name}" for name in names
    ]
    # So they stay failures where results are added up.
    assert "passed alone" not in said


def test_what_fails_twice_has_failed(runs: Runs) -> None:
    assert runs.verdict(BROKEN, FLAKY.format(1)) == 1
    assert runs.second == [["test_1.py::test_broken", "test_2.py::test_flaky[0]"]]


def test_many_failures_are_no_accident(runs: Runs) -> None:
    assert runs.verdict(MANY.format(MOST), BROKEN) == 1
    assert runs.second == []


@pytest.mark.parametrize(("source", "code"), [(GOOD, 0), ("", 5)])
def test_nothing_that_failed_is_run_again(runs: Runs, source: str, code: int) -> None:
    assert runs.verdict(source) == code
    assert runs.second == []


def test_nothing_is_run_again_where_a_part_broke_down(runs: Runs) -> None:
    assert runs.verdict(FLAKY.format(1), "") == 1
    assert runs.second == []


def test_old_notes_are_forgotten(runs: Runs) -> None:
    runs.verdict(BROKEN)
    runs.commands.clear()
    assert runs.verdict(FLAKY.format(1)) == 0
    assert runs.second == [["test_1.py::test_flaky[0]"]]
