"""``nvshare emulate down``: remove a named node."""

import click

from nvshare.cli.emulate.options import node_name
from nvshare.emulator.node import remove
from nvshare.emulator.root import node_root


@click.command()
@node_name
def down(name: str) -> None:
    """Remove an emulated node and all that is on it."""
    remove(node_root(), name)
    click.echo(f'The emulated node "{name}" is gone.')
