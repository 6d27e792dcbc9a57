"""``nvshare emulate smi``: show the GPUs of a node and what runs on them."""

import dataclasses
import json
import time
from collections.abc import Iterator

import click
from rich.console import Console
from rich.live import Live

from nvshare.cli.emulate.options import node_name
from nvshare.cli.emulate.smi_table import render
from nvshare.emulator.libraries import library_folder
from nvshare.emulator.node import find
from nvshare.emulator.root import node_root
from nvshare.emulator.smi import Reader, Snapshot

_SECONDS_BETWEEN = 1.0


@click.command()
@node_name
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON per reading.")
@click.option("--watch", is_flag=True, help="Go on, once a second, until Ctrl-C.")
def smi(name: str, as_json: bool, watch: bool) -> None:
    """Show memory, utilisation and processes of a node."""
    reader = Reader(find(node_root(), name), library_folder())
    snapshots = _every_second(reader) if watch else iter([reader.read()])
    try:
        if as_json:
            _print_json(snapshots)
        elif watch:
            _print_live(snapshots)
        else:
            Console().print(render(next(snapshots)))
    except KeyboardInterrupt:
        # Ctrl-C is how a person says that they have seen enough.
        return


def _every_second(reader: Reader) -> Iterator[Snapshot]:
    while True:
        yield reader.read()
        time.sleep(_SECONDS_BETWEEN)


def _print_json(snapshots: Iterator[Snapshot]) -> None:
    for snapshot in snapshots:
        click.echo(json.dumps(dataclasses.asdict(snapshot)))


def _print_live(snapshots: Iterator[Snapshot]) -> None:
    with Live(screen=False, auto_refresh=False) as live:
        for snapshot in snapshots:
            live.update(render(snapshot), refresh=True)
