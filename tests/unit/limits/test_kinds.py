"""Limits of every kind, independent of the table."""

from enum import Enum
from types import SimpleNamespace
from typing import Any

import pytest

from nvshare.limits.kinds import Amount, Choice, Limit, Number, Permission

GIB = 1 << 30
COMMON: dict[str, Any] = {"label": "l", "help_run": "", "help_limit": "", "variable": "V"}


class Grade(Enum):
    BEST = "best"
    USUAL = "usual"
    LEAST = "least"


AMOUNT = Amount(name="room", core_name="room", option="room", **COMMON)
NUMBER = Number(name="pace", core_name="pace", option="pace", least=2, most=50, unit="ms", **COMMON)
PERMISSION = Permission(
    name="more", core_name="more", option="more", beyond="pace", flag=16, **COMMON
)
CHOICE = Choice(
    name="grade",
    core_name="grade",
    option="grade",
    choices=("best", "usual", "least"),
    default="usual",
    enum=Grade,
    choice_flags={"best": 32, "least": 64},
    **COMMON,
)


@pytest.mark.parametrize(
    ("limit", "values", "tightest"),
    [
        (AMOUNT, [], None),
        (AMOUNT, [None, None], None),
        (AMOUNT, [None, 4 * GIB, 2 * GIB], 2 * GIB),
        (NUMBER, [30, 7], 7),
        (PERMISSION, [], None),
        (PERMISSION, [True, True], True),
        (PERMISSION, [True, None], None),
        (CHOICE, [None], None),
        (CHOICE, ["best", "least", None], "least"),
    ],
)
def test_of_several_the_tightest(limit: Limit, values: list[Any], tightest: Any) -> None:
    assert limit.tightest(values) == tightest


@pytest.mark.parametrize(
    ("limit", "value", "ceiling", "left"),
    [
        (AMOUNT, None, {"room": GIB}, GIB),
        (AMOUNT, 2 * GIB, {"room": GIB}, GIB),
        (AMOUNT, GIB, {"room": 2 * GIB}, GIB),
        (AMOUNT, GIB, {"room": None}, GIB),
        # Without a ceiling there is nothing to exceed.
        (PERMISSION, True, {"pace": None, "more": False}, True),
        (PERMISSION, True, {"pace": 10, "more": False}, None),
        (PERMISSION, True, {"pace": 10, "more": True}, True),
        (CHOICE, "best", {"grade": "usual"}, "usual"),
        (CHOICE, None, {"grade": "least"}, "least"),
        (CHOICE, "least", {"grade": "usual"}, "least"),
        (CHOICE, "best", {"grade": None}, "best"),
    ],
)
def test_what_a_ceiling_leaves(limit: Limit, value: Any, ceiling: Any, left: Any) -> None:
    assert limit.cut(value, SimpleNamespace(**ceiling)) == left


@pytest.mark.parametrize(
    ("limit", "one", "other", "laxest"),
    [
        (NUMBER, 5, 9, 9),
        (NUMBER, 5, None, None),
        (PERMISSION, False, True, True),
        (CHOICE, "least", "best", "best"),
        (CHOICE, "least", None, None),
    ],
)
def test_what_one_of_two_ceilings_allows(limit: Limit, one: Any, other: Any, laxest: Any) -> None:
    assert limit.laxest(one, other) == limit.laxest(other, one) == laxest


@pytest.mark.parametrize(
    ("limit", "value", "in_log", "in_sentence", "variable"),
    [
        (AMOUNT, 4 * GIB, "room=4Gi", "4Gi", str(4 * GIB)),
        (NUMBER, 20, "pace=20ms", "20 ms", "20"),
        (PERMISSION, True, "more", "on", "1"),
        (CHOICE, "best", "grade=best", "best", "best"),
    ],
)
def test_words(limit: Limit, value: Any, in_log: str, in_sentence: str, variable: str) -> None:
    assert limit.in_log(value) == in_log
    assert limit.in_sentence(value) == in_sentence
    assert limit.variable_text(value) == variable
    assert limit.in_log(None) == ""


@pytest.mark.parametrize(
    ("limit", "good", "bad", "fault"),
    [
        (AMOUNT, "4Gi", "0", "it would leave nothing to allocate"),
        (AMOUNT, "1500Mi", "4GB", '"4GB" is not an amount of memory'),
        (NUMBER, "50", "51", "it is not a number from 2 to 50"),
        (NUMBER, "2", "two", "it is not a number from 2 to 50"),
        (CHOICE, "usual", "good", "it is not best, usual or least"),
    ],
)
def test_what_is_wrong_with_a_variable(limit: Limit, good: str, bad: str, fault: str) -> None:
    assert limit.wrong_with(good) is None
    assert (limit.wrong_with(bad) or "").startswith(fault)


@pytest.mark.parametrize(
    ("limit", "values"),
    [
        (AMOUNT, [None, GIB]),
        (NUMBER, [None, 2]),
        (PERMISSION, [None, True]),
        (CHOICE, [None, "best", "least"]),
    ],
)
def test_there_and_back_by_frames_and_through_the_core(limit: Limit, values: list[Any]) -> None:
    for value in values:
        frame = SimpleNamespace(**{limit.name: value or 0})
        assert limit.from_frame(frame, limit.flags(value)) == value
        assert limit.from_core(limit.to_core(value)) == value


def test_what_means_nothing_in_particular() -> None:
    assert CHOICE.normalized("usual") is CHOICE.normalized(None) is None
    assert PERMISSION.normalized(False) is None
    assert (NUMBER.normalized(3), CHOICE.normalized("least")) == (3, "least")
    assert CHOICE.to_core(None) is Grade.USUAL
