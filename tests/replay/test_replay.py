"""Journals that were worth keeping: the core still decides in each of them as it did.

A journal begins with remarks that say what it is about. A difference is not wrong as such; whoever
changes what a journal tells has looked at it, and says so in the commit.
"""

from pathlib import Path

import pytest

from nvshare.core.replay import replay

JOURNALS = sorted(Path(__file__).parent.glob("*.jsonl"))


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.stem)
def test_journal(path: Path) -> None:
    with path.open(encoding="utf-8") as lines:
        assert replay(lines, check=True) == []


def test_there_are_journals() -> None:
    assert len(JOURNALS) >= 6
