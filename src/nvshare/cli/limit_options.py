"""The options of commands that limit programs: one for each limit."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from nvshare.cli.quantities import Quantity
from nvshare.limits.kinds import Amount, Choice, Limit, Number, Permission
from nvshare.limits.table import LIMITS

Command = TypeVar("Command", bound=Callable[..., Any])


def options_of_run(command: Command) -> Command:
    """Give a command an option for each limit that a program can be started with."""
    for limit in reversed(LIMITS):
        command = _option(f"--{limit.option}", limit, help=limit.help_run, **_strict(limit))(
            command
        )
    return command


def options_of_limit(command: Command) -> Command:
    """Give a command an option for each limit; the daemon validates the values."""
    for limit in reversed(LIMITS):
        name = f"--{limit.option}"
        if isinstance(limit, Permission):
            name = f"{name}/--no-{limit.option}"
        command = _option(name, limit, help=limit.help_limit, **_lax(limit))(command)
    return command


def given(values: dict[str, Any]) -> dict[str, Any]:
    """Return the limits that were given. A flag that was not given sets nothing.

    No limit is 0 (check_amounts).
    """
    return {name: value for name, value in values.items() if value}


def check_amounts(values: dict[str, Any], ctx: click.Context) -> None:
    """Refuse an amount of zero."""
    for limit in LIMITS:
        if isinstance(limit, Amount) and values[limit.name] == 0:
            ctx.fail(f"--{limit.option} 0 would leave nothing to allocate.")


def _option(name: str, limit: Limit, **how: Any) -> Callable[[Command], Command]:
    return click.option(name, limit.name, metavar=limit.metavar or None, **how)


def _strict(limit: Limit) -> dict[str, Any]:
    if isinstance(limit, Amount):
        return {"type": Quantity()}
    if isinstance(limit, Number):
        return {"type": click.IntRange(limit.least, limit.most)}
    return {"is_flag": True} if isinstance(limit, Permission) else _lax(limit)


def _lax(limit: Limit) -> dict[str, Any]:
    if isinstance(limit, Choice):
        return {"type": click.Choice(limit.choices)}
    return {"default": None} if isinstance(limit, Permission) else {}
