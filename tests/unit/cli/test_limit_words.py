"""A limit that no table knows specially is shown all the same."""

from types import SimpleNamespace
from typing import Any

import pytest

from nvshare.cli import limit_words
from nvshare.limits.kinds import Number
from nvshare.limits.table import LIMITS
from nvshare.settings import ClientLimits

PACE = Number(
    name="pace",
    core_name="pace",
    label="pace",
    option="pace",
    help_run="",
    help_limit="",
    variable="V",
    least=1,
    most=9,
    unit="ms",
)


def test_what_tables_show_in_their_own_way_is_not_shown_twice() -> None:
    limits = ClientLimits(memory_limit=1, compute_percent=40, burst=True, priority="high")
    assert limit_words.further_limits(limits) == []


def test_another_one_is_shown_in_the_words_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit_words, "LIMITS", (*LIMITS, PACE))
    limited: Any = SimpleNamespace(pace=5, **ClientLimits().model_dump())
    assert limit_words.further_limits(limited) == ["pace=5ms"]
    free: Any = SimpleNamespace(pace=None, **ClientLimits().model_dump())
    assert limit_words.further_limits(free) == []
