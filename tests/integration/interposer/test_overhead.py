"""The benchmark of the interposer's own cost, and its part that a busy machine cannot distort."""

import shutil
from collections.abc import Callable
from typing import TypeAlias

import pytest

from nvshare.cli.lab.bench import overhead
from nvshare.cli.lab.bench.group import Line

# On a busy machine, more instructions of the session's thread are counted.
pytestmark = pytest.mark.timed

Measure: TypeAlias = Callable[[], dict[str, Line]]

# The session's thread is counted as well, and now and then it has something to do.
ATTEMPTS = 3
# The permitted part for telemetry, in a program that does nothing but launch.
TELEMETRY_PERCENT = 0.5


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Measure:
    few = {"_TURNS": 1, "_CALLS": 2_000, "_DRIVERS_CALLS": 2, "_ROUNDS": 2}
    for name, value in few.items():
        monkeypatch.setattr(overhead, name, value)
    return lambda: {line["what"]: line for line in overhead.measure()}


def slows_down(lines: dict[str, Line]) -> bool:
    """Whether an allocation costs more with ten thousand others than with none."""
    few, many = (lines[what]["managed_instructions"] for what in ("alloc", "alloc-10000"))
    return bool(many > 1.1 * few)


def too_many(lines: dict[str, Line]) -> dict[str, float]:
    """Calls to which the interposer adds too many instructions.

    A copy that returns when it is done is counted, since no event marks its end. For explicit
    memory, calls mark that they are inside, and the check of work in flight costs more.
    """
    allowed = {
        ("launch", "bare_instructions", "managed_instructions"): 26,
        ("copy", "bare_instructions", "managed_instructions"): 40,
        ("launch", "managed_own", "explicit_own"): 14,
        ("copy", "managed_own", "explicit_own"): 50,
    }
    found = {}
    for (what, less, more), most in allowed.items():
        added = lines[what][more] - lines[what][less]
        if added > most:
            found[f"{what}: {more} - {less}"] = added
    if lines["launch"]["telemetry_percent"] > TELEMETRY_PERCENT:
        found["telemetry"] = lines["launch"]["telemetry_percent"]
    return found


def test_instructions_per_call(measure: Measure) -> None:
    lines = measure()
    assert list(lines) == ["launch", "copy", "info", "alloc", "alloc-10000", "large", "touch"]
    for line in lines.values():
        ways = ("bare", "forwarded", "managed", "explicit", "native")
        assert min(line[f"{way}_ns"] for way in ways) > 0
    if shutil.which("valgrind") is None:
        assert lines["launch"]["managed_instructions"] is None
        return
    attempts = 1
    while (slows_down(lines) or too_many(lines)) and attempts < ATTEMPTS:
        lines, attempts = measure(), attempts + 1
    assert not slows_down(lines), lines
    assert too_many(lines) == {}
