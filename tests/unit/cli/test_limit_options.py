"""There is an option for each limit, and only the given ones are requested."""

from collections.abc import Callable
from typing import Any, TypeAlias

import click
import pytest
from click.testing import CliRunner

from nvshare.cli.limit_options import check_amounts, given, options_of_limit, options_of_run
from nvshare.limits.table import LIMITS

GIB = 1 << 30
Options: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]


def parse(options: Options, *arguments: str) -> tuple[dict[str, Any], str]:
    """Return the values of the options, or the text that was printed instead."""
    found: dict[str, Any] = {}

    @click.command()
    @options
    @click.pass_context
    def command(ctx: click.Context, /, **values: Any) -> None:
        check_amounts(values, ctx)
        found.update(values)

    return found, CliRunner().invoke(command, list(arguments)).output


@pytest.mark.parametrize("options", [options_of_run, options_of_limit])
def test_every_limit_has_one(options: Options) -> None:
    assert list(parse(options)[0]) == [limit.name for limit in LIMITS]
    help_text = parse(options, "--help")[1]
    assert [f"--{one.option}" in help_text for one in LIMITS] == [True] * len(LIMITS)


def test_a_program_is_started_with_what_was_given() -> None:
    assert given(parse(options_of_run)[0]) == {}
    arguments = ("--memory", "4Gi", "--compute", "40", "--burst", "--priority", "normal")
    assert given(parse(options_of_run, *arguments)[0]) == {
        "memory_limit": 4 * GIB,
        "compute_percent": 40,
        "burst": True,
        "priority": "normal",
    }


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--memory", "0"), "--memory 0 would leave nothing to allocate."),
        (("--memory", "4GB"), "is not an amount of memory"),
        (("--compute", "101"), "101 is not in the range 1<=x<=100."),
        (("--priority", "top"), "'top' is not one of 'high', 'normal', 'low'."),
    ],
)
def test_what_is_wrong_is_said_at_once(arguments: tuple[str, ...], complaint: str) -> None:
    assert complaint in parse(options_of_run, *arguments)[1]


def test_a_limit_that_is_changed_can_be_lifted() -> None:
    found, _ = parse(options_of_limit, "--memory", "none", "--no-burst")
    assert found == {
        "memory_limit": "none",
        "compute_percent": None,
        "burst": False,
        "priority": None,
    }
