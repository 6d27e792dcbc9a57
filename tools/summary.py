"""Adds up the closing lines of several runs of pytest, into one line of the same form.

    python -m tools.summary LOG…

A run without a closing line counts as an error. The exit code is 1 if anything failed. A test that
failed and then passed by itself (tests/again.py) counts as passed.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

_CLOSING = re.compile(r"^(?:=+ )?(\d+ [a-z]+(?:, \d+ [a-z]+)*) in (\d+\.\d+)s\b", re.MULTILINE)
_PASSED_ALONE = re.compile(r"^(\d+) failed at first, passed alone$", re.MULTILINE)
# In the order in which pytest names them, in the singular where it has both.
_WORDS = ("failed", "passed", "skipped", "deselected", "xfailed", "xpassed", "warning", "error")
_WIDTH = 80


def total(logs: Iterable[str]) -> str:
    """Return one closing line for the output of these runs."""
    counts: Counter[str] = Counter()
    seconds = 0.0
    for log in logs:
        closing = _CLOSING.findall(log)
        seconds += sum(float(duration) for _, duration in closing)
        counts += _counted([numbers for numbers, _ in closing], _PASSED_ALONE.findall(log))
    parts = [_count(counts[word], word) for word in _WORDS if counts[word]]
    clock = f" ({timedelta(seconds=int(seconds))})" if seconds >= 60 else ""
    return f" {', '.join(parts)} in {seconds:.2f}s{clock} ".center(_WIDTH, "=")


def _counted(closing: list[str], passed_alone: list[str]) -> Counter[str]:
    """Return the counts of one run, which may have run pytest more than once."""
    if not closing:
        return Counter(error=1)
    counts: Counter[str] = Counter()
    for number, word in (one.split() for numbers in closing for one in numbers.split(", ")):
        counts[word.removesuffix("s")] += int(number)
    for at_first in map(int, passed_alone):
        # A test whose setup failed was counted as an error.
        failures = min(at_first, counts["failed"])
        counts["failed"] -= failures
        counts["error"] -= at_first - failures
    return counts


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' if word in ('warning', 'error') and number > 1 else ''}"


if __name__ == "__main__":
    closing = total(Path(path).read_text(errors="replace") for path in sys.argv[1:])
    print(closing)
    sys.exit("failed" in closing or "error" in closing)
