"""Turns readings into lines: what was measured, what was expected, and whether both agree.

A function of readings and table, without a GPU: a report can be judged again anywhere.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from nvshare.probe.readings import MissingError, Readings

Show: TypeAlias = Callable[[Readings], str]
Test: TypeAlias = Callable[[Readings], bool]


class Verdict(Enum):
    """The verdict of a line."""

    OK = "ok"
    BAD = "BAD"
    # No expectation: it is there for readers of the report, and for profiles.
    INFO = "info"
    UNKNOWN = "n/a"


@dataclass(frozen=True)
class Fact:
    """A fact without an expectation."""

    name: str
    what: str
    show: Show


@dataclass(frozen=True)
class Expectation:
    """Something that nvshare relies on."""

    name: str
    what: str
    show: Show
    test: Test
    expected: str
    # Where the expectation comes from, and which decision of nvshare's design depends on it.
    source: str
    decision: str


@dataclass(frozen=True)
class Line:
    """One line of the report."""

    name: str
    what: str
    measured: str
    expected: str
    verdict: Verdict
    source: str = ""
    decision: str = ""


def judge(readings: Readings, table: "Iterable[Fact | Expectation]") -> list[Line]:
    """Compare readings with a table."""
    return [_judge(readings, entry) for entry in table]


def _judge(readings: Readings, entry: Fact | Expectation) -> Line:
    try:
        measured = entry.show(readings)
        if isinstance(entry, Fact):
            return Line(entry.name, entry.what, measured, "", Verdict.INFO)
        verdict = Verdict.OK if entry.test(readings) else Verdict.BAD
    except MissingError as missing:
        measured, verdict = str(missing), Verdict.UNKNOWN
    if isinstance(entry, Fact):
        return Line(entry.name, entry.what, measured, "", verdict)
    return Line(
        entry.name, entry.what, measured, entry.expected, verdict, entry.source, entry.decision
    )
