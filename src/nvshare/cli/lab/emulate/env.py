"""``nvshare emulate env``: print what a shell has to export to be on a node."""

import os
import shlex

import click

from nvshare.cli.json_output import show_json
from nvshare.cli.lab.emulate.options import node_name
from nvshare.lab.emulator.emulated_node import environment_without, find
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root


@click.command()
@node_name
@click.option("--json", "as_json", is_flag=True, help="Print them as one line of JSON.")
@click.option(
    "--unset", is_flag=True, help="Print unset lines instead, which remove the variables."
)
def env(name: str, as_json: bool, unset: bool) -> None:
    """Print export lines for `eval "$(nvshare emulate env)"`."""
    if unset:
        for variable, left in environment_without(library_folder(), os.environ).items():
            click.echo(f"export {variable}={shlex.quote(left)}" if left else f"unset {variable}")
        return
    node = find(node_root(), name)
    variables = node.environment(library_folder(), os.environ)
    if as_json:
        show_json({"node": node.name, "environment": variables})
        return
    for variable, value in variables.items():
        click.echo(f"export {variable}={shlex.quote(value)}")
