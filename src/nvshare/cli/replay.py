"""``nvshare replay FILE``: play a saved story to the core, and say where it decides differently."""

from pathlib import Path

import click

from nvshare.core.lease import IllegalTransition
from nvshare.core.replay import replay as play
from nvshare.core.story import Entry, write_entry
from nvshare.errors import BadInputError


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--check", is_flag=True, help="Check every invariant after every event.")
@click.pass_context
def replay(ctx: click.Context, file: Path, check: bool) -> None:
    """Replay the story in FILE, which `nvshare status --story` or the control API gave.

    Exits with 1 if the core decides differently now.
    """
    lines = file.read_text(encoding="utf-8").splitlines()
    try:
        differences = play(lines, check=check)
    except (ValueError, KeyError, TypeError, IllegalTransition) as error:
        raise BadInputError(
            f"{file} is not a story that can be replayed",
            why=str(error),
            do="save one with `nvshare status --story > FILE`",
        ) from error
    for difference in differences:
        click.echo(f"line {difference.line}:")
        click.echo(f"  told: {write_entry(Entry(difference.event, difference.expected))}")
        click.echo(f"  now:  {write_entry(Entry(difference.event, difference.got))}")
    told = sum(1 for line in lines if line.strip() and not line.startswith("#")) - 1
    click.echo(f"{max(told, 0)} events, {len(differences)} decided differently")
    ctx.exit(1 if differences else 0)
