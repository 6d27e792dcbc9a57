"""Numbers and limits read the same on the page as on the terminal."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from nvshare.quantity import format_quantity
from nvshare.telemetry.words import duration, gib, percent
from tests.integration.sharing.conftest import Sharing

from .conftest import GIB, Serve

if TYPE_CHECKING:
    from .browser import Browser

# Has the page call one of its functions with each of some lists of arguments.
OnThePage: TypeAlias = Callable[[str, Sequence[Sequence[Any]]], list[Any]]

# WebDriver waits for the last argument to be called.
CALL = """
const [name, values, done] = arguments;
import("/words.js").then((words) => done(values.map((value) => words[name](...value))));
"""
# Values halfway between two digits are rounded to the even one.
SIZES = [0, 1, GIB // 4, GIB, 5 * GIB // 4, 12345678901, 99 * GIB, 201 * GIB // 2, 2048 * GIB]
SECONDS = [0, 0.04, 0.25, 3.16, 9.95, 10.4, 59.94, 60, 719.9, 3600, 18190]
PARTS = [0, 0.0004, 0.0025, 0.00999, 0.01, 0.025, 0.5, 0.995, 1]


@pytest.fixture
def on_the_page(sharing: Sharing, serve: Serve, browser: "Browser") -> OnThePage:
    """A page that calls its functions."""
    browser.open(serve(sharing))
    return lambda name, values: browser.driver.execute_async_script(CALL, name, values)


def test_numbers(on_the_page: OnThePage) -> None:
    cases: list[tuple[str, Callable[[Any], str], Sequence[float]]] = [
        ("gib", gib, SIZES),
        ("duration", duration, SECONDS),
        ("percent", percent, PARTS),
        ("quantity", format_quantity, [*SIZES, 1 << 50, 3 << 20, 1500, 1024]),
    ]
    for name, words, values in cases:
        assert on_the_page(name, [[value] for value in values]) == list(map(words, values)), name


def test_a_limit_that_the_page_has_no_words_for_reads_as_in_the_log(
    on_the_page: OnThePage,
) -> None:
    table = [
        {"name": "memory_limit", "option": "memory", "kind": "text", "isAmount": True},
        {"name": "pace", "option": "pace", "kind": "number", "unit": "ms"},
        {"name": "scratch", "option": "scratch", "kind": "text", "isAmount": True},
        {"name": "polite", "option": "polite", "kind": "check"},
    ]
    limits = {"memory_limit": GIB, "pace": 5, "scratch": 3 << 20, "polite": True}
    none = {"memory_limit": GIB, "pace": None, "scratch": None, "polite": None}
    assert on_the_page("furtherLimits", [[limits, table], [none, table]]) == [
        ["pace=5ms", "scratch=3Mi", "polite"],
        [],
    ]
