"""A second chance, alone, for tests that failed beside others.

With six tests at a time on two cores, some are late now and then. A failed test runs once more by
itself. If it fails again, it has failed. If it passes, it is named as flaky at the end, so that it
gets attention. Many failures are no accident, and get no second chance.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

# More failures than this are never chance.
MOST = 10
# The exit code of pytest when tests failed and nothing else went wrong.
_TESTS_FAILED = 1


def remembering(cache: Path) -> list[str]:
    """Return the options with which pytest records failed tests in this folder, cleared first."""
    shutil.rmtree(cache, ignore_errors=True)
    return ["-o", f"cache_dir={cache.absolute()}"]


def judged(code: int, cache: Path, run_alone: Callable[[Sequence[str]], int]) -> int:
    """Return the exit code of pytest, or 0 if everything that failed passes by itself."""
    failed = _failed(cache)
    if code != _TESTS_FAILED or not 0 < len(failed) <= MOST:
        return code
    print(f"Running {len(failed)} failed tests again, alone.", flush=True)
    if again := run_alone(failed):
        return again
    print(*(f"flaky: {name}" for name in failed), sep="\n")
    # tools/summary.py reads this line.
    print(f"{len(failed)} failed at first, passed alone", flush=True)
    return 0


def _failed(cache: Path) -> list[str]:
    try:
        return sorted(json.loads((cache / "v/cache/lastfailed").read_text(encoding="utf-8")))
    except FileNotFoundError:
        return []
