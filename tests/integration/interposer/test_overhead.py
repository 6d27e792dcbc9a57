"""The benchmark of the interposer's own cost, and the part of it that no busy machine can blur."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from nvshare.cli.bench import overhead
from nvshare.cli.bench.group import Line

# Of the session's thread, more is counted on a busy machine.
pytestmark = pytest.mark.alone

Measure: TypeAlias = Callable[[], dict[str, Line]]

# The session's thread is counted as well, and now and then it has something to do.
ATTEMPTS = 3


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Measure:
    for name, value in {"_TURNS": 1, "_CALLS": 2_000, "_ROUNDS": 2}.items():
        monkeypatch.setattr(overhead, name, value)
    return lambda: {line["what"]: line for line in overhead.measure()}


def test_a_marked_launch_costs_twelve_instructions_more(
    measure: Measure, monkeypatch: pytest.MonkeyPatch, marked_library: Path
) -> None:
    monkeypatch.setattr(overhead, "_WHAT", ("launch", "copy"))
    plain = measure()
    if shutil.which("valgrind") is None:
        assert plain["launch"]["managed_instructions"] is None
        return
    monkeypatch.setattr(overhead, "library", lambda: marked_library)
    # The look after work in flight, now and then, costs a little more as well.
    bounds = {"launch": 14, "copy": 50}
    for _ in range(ATTEMPTS):
        marked = measure()
        more = {
            what: marked[what]["managed_instructions"] - plain[what]["managed_instructions"]
            for what in bounds
        }
        if all(more[what] <= most for what, most in bounds.items()):
            return
    pytest.fail(f"{more} instructions more, at the last of {ATTEMPTS} attempts")


def slows_down(lines: dict[str, Line]) -> bool:
    """Whether an allocation costs more with ten thousand others than with none."""
    few, many = (lines[what]["managed_instructions"] for what in ("alloc", "alloc-10000"))
    return bool(many > 1.1 * few)


def test_instructions_per_call(measure: Measure) -> None:
    lines = measure()
    assert list(lines) == ["launch", "copy", "info", "alloc", "alloc-10000"]
    for line in lines.values():
        assert min(line["bare_ns"], line["forwarded_ns"], line["managed_ns"]) > 0
    if shutil.which("valgrind") is None:
        assert lines["launch"]["managed_instructions"] is None
        return
    # A copy that returns when it is done is counted, since no event tells when it is.
    # In a launch's figure are calls of the emulated driver that the interposer makes now and
    # then, for events: two instructions are theirs.
    for what, most in {"launch": 26, "copy": 40}.items():
        line = lines[what]
        assert line["managed_instructions"] - line["bare_instructions"] <= most
    attempts = 1
    while slows_down(lines) and attempts < ATTEMPTS:
        lines, attempts = measure(), attempts + 1
    assert not slows_down(lines), lines
