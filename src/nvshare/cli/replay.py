"""``nvshare replay FILE``: replay a saved journal, and say where the core decides differently."""

from pathlib import Path
from typing import Any

import click

from nvshare.cli.json_output import show_json
from nvshare.core.journal.journal import Entry, write_entry
from nvshare.core.lease import IllegalTransition
from nvshare.core.replay import Difference
from nvshare.core.replay import replay as play
from nvshare.errors import BadInputError


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--check", is_flag=True, help="Check every invariant after every event.")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
@click.pass_context
def replay(ctx: click.Context, file: Path, check: bool, as_json: bool) -> None:
    """Replay the journal in FILE, which `nvshare status --journal` or the control API gave.

    Exits with 1 if the core decides differently now.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        differences = play(lines, check=check)
    except (ValueError, KeyError, TypeError, RecursionError, IllegalTransition) as error:
        raise BadInputError(
            f"{file} is not a journal that can be replayed",
            why=str(error),
            do="save one with `nvshare status --journal > FILE`",
        ) from error
    told = sum(1 for line in lines if line.strip() and not line.startswith("#")) - 1
    events, found = max(told, 0), [_described(one) for one in differences]
    if as_json:
        show_json({"events": events, "differences": found})
    else:
        _show(events, found)
    ctx.exit(1 if differences else 0)


def _described(difference: Difference) -> dict[str, Any]:
    return {
        "line": difference.line,
        "told": write_entry(Entry(difference.event, difference.expected)),
        "now": write_entry(Entry(difference.event, difference.got)),
    }


def _show(events: int, differences: list[dict[str, Any]]) -> None:
    for one in differences:
        click.echo(f"line {one['line']}:")
        click.echo(f"  told: {one['told']}")
        click.echo(f"  now:  {one['now']}")
    click.echo(f"{events} events, {len(differences)} decided differently")
