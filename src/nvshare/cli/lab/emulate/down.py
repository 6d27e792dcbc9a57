"""``nvshare emulate down``: remove a named node."""

import os

import click

from nvshare.cli.lab.emulate.options import node_name
from nvshare.lab.emulator.emulated_node import remove
from nvshare.lab.emulator.root import node_root
from nvshare.wire import environment


@click.command()
@node_name
def down(name: str) -> None:
    """Remove an emulated node and all that is on it."""
    root = node_root()
    remove(root, name)
    click.echo(f'The emulated node "{name}" is gone.')
    if os.environ.get(environment.EMULATOR_NODE) == str(root / name):
        click.echo('This shell still has its variables:  eval "$(nvshare emulate env --unset)"')
