"""Stories that were worth keeping: the core still decides in each of them as it did.

A story begins with remarks that say what it is about. A difference is not wrong as such; whoever
changes what a story tells has looked at it, and says so in the commit.
"""

from pathlib import Path

import pytest

from nvshare.core.replay import replay

STORIES = sorted(Path(__file__).parent.glob("*.jsonl"))


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_story(path: Path) -> None:
    with path.open(encoding="utf-8") as lines:
        assert replay(lines, check=True) == []


def test_there_are_stories() -> None:
    assert len(STORIES) >= 6
