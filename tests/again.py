"""A second chance, alone, for tests that failed beside others.

With six tests at a time on two cores, one is late now and then. A failed test runs once more by
itself. If it fails again, it has failed. If it passes, it is named as flaky at the end, so that it
gets attention. A few may be chance: on a busy machine, up to five were late. More than that fail
the run, and many failures are no accident and get no second chance.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

# More failures than this are never chance.
MOST = 10
# A run in which more tests than this needed a second chance has failed.
MOST_FLAKY = 6
# The exit code of pytest when tests failed and nothing else went wrong.
_TESTS_FAILED = 1


def remembering(cache: Path) -> list[str]:
    """Return the options with which pytest records failed tests in this folder, cleared first."""
    shutil.rmtree(cache, ignore_errors=True)
    return ["-o", f"cache_dir={cache.absolute()}"]


def judged(parts: Sequence[tuple[int, Path]], run_alone: Callable[[Sequence[str]], int]) -> int:
    """Return the exit code of a run, which is 0 if what failed at first passes by itself.

    Each part of the run has the exit code of its pytest, and the folder where failed tests are
    recorded.
    """
    codes = [code for code, _ in parts if code]
    failed = sorted(name for code, cache in parts if code for name in _failed(cache))
    if any(code != _TESTS_FAILED for code in codes) or not 0 < len(failed) <= MOST:
        return codes[0] if codes else 0
    print(f"Running {len(failed)} failed tests again, alone.", flush=True)
    if again := run_alone(failed):
        return again
    print(*(f"flaky: {name}" for name in failed), sep="\n")
    if len(failed) > MOST_FLAKY:
        print(
            f"{len(failed)} tests passed only alone, and {MOST_FLAKY} may: mend them.", flush=True
        )
        return _TESTS_FAILED
    # tools/summary.py reads this line.
    print(f"{len(failed)} failed at first, passed alone", flush=True)
    return 0


def _failed(cache: Path) -> list[str]:
    try:
        return list(json.loads((cache / "v/cache/lastfailed").read_text(encoding="utf-8")))
    except FileNotFoundError:
        return []
