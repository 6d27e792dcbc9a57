"""``nvshare status``: the GPUs of this machine and the programs that share them."""

import click

from nvshare.cli.control import Daemon
from nvshare.cli.json_output import follow_json

_PERIOD = 1.0


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
@click.option("--watch", is_flag=True, help="Repeat every second until interrupted.")
@click.option("--journal", is_flag=True, help="Print the daemon's journal, for nvshare replay.")
def status(as_json: bool, watch: bool, journal: bool) -> None:
    """Show GPUs, settings and programs."""
    daemon = Daemon()
    if journal:
        click.echo(daemon.journal(), nl=False)
    elif as_json:
        follow_json(lambda: daemon.status().model_dump(), _PERIOD if watch else None)
    else:
        _draw(daemon, watch)


def _draw(daemon: Daemon, watch: bool) -> None:
    # Scripts that ask for JSON need not wait for tables and colours.
    from nvshare.cli.board import Board
    from nvshare.cli.output import follow, show

    if watch:
        follow(lambda: Board(daemon.status()), _PERIOD)
    else:
        show(Board(daemon.status()))
