import json

import pytest

from nvshare.core.effects import Grant
from nvshare.core.replay import replay

from .stage import Stage


@pytest.fixture
def lines() -> list[str]:
    stage = Stage()
    stage.busy(1, 12, is_new=True)
    stage.busy(2, 12, is_new=True)
    stage.release(1)
    return list(stage.core.journal.lines())


def test_the_same_core_decides_the_same(lines: list[str]) -> None:
    assert replay(lines) == []


def test_a_difference_says_where_and_what(lines: list[str]) -> None:
    told = json.loads(lines[2])
    told["effects"][0]["turn"] = 99
    lines[2] = json.dumps(told)
    (difference,) = replay(lines)
    assert difference.line == 3
    assert difference.expected == (Grant(1, 99),)
    assert difference.got == (Grant(1, 1),)


def test_remarks_and_empty_lines_are_for_people(lines: list[str]) -> None:
    assert replay(["# why this journal is told\n", "\n", *lines, "\n"]) == []


def test_an_empty_file_is_no_journal() -> None:
    with pytest.raises(ValueError, match="not a journal"):
        replay([])
