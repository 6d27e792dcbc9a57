"""``nvshare emulate env``: print what a shell has to export to be on a node."""

import os
import shlex

import click

from nvshare.cli.emulate.options import node_name
from nvshare.emulator.libraries import library_folder
from nvshare.emulator.node import find
from nvshare.emulator.root import node_root


@click.command()
@node_name
def env(name: str) -> None:
    """Print export lines for `eval "$(nvshare emulate env)"`."""
    node = find(node_root(), name)
    for variable, value in node.environment(library_folder(), os.environ).items():
        click.echo(f"export {variable}={shlex.quote(value)}")
