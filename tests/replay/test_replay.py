"""Journals that were worth keeping: in each, the core still decides as it did.

A journal begins with remarks that say what it is about. A difference is not wrong as such. A change
that alters a journal's decisions needs a look at it, and a word in the commit.
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
