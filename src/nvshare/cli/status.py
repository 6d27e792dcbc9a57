"""``nvshare status``: the GPUs of this machine and who shares them."""

import contextlib
import time

import click
from rich.console import Console
from rich.live import Live

from nvshare.cli.control import Daemon
from nvshare.cli.status_table import draw

_PERIOD = 1.0


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
@click.option("--watch", is_flag=True, help="Go on, once a second, until interrupted.")
@click.option("--story", is_flag=True, help="Print the story so far, for nvshare replay.")
def status(as_json: bool, watch: bool, story: bool) -> None:
    """Show GPUs, settings and programs."""
    daemon = Daemon()
    if story:
        click.echo(daemon.story(), nl=False)
        return
    if not watch:
        now = daemon.status()
        if as_json:
            click.echo(now.model_dump_json())
        else:
            Console().print(draw(now))
        return
    # Control-C is how one ends it.
    with contextlib.suppress(KeyboardInterrupt):
        _watch(daemon, as_json)


def _watch(daemon: Daemon, as_json: bool) -> None:
    if as_json:
        while True:
            click.echo(daemon.status().model_dump_json())
            time.sleep(_PERIOD)
    with Live(auto_refresh=False) as live:
        while True:
            live.update(draw(daemon.status()), refresh=True)
            time.sleep(_PERIOD)
