"""``nvshare emulate up``: start a named node."""

import click

from nvshare.cli.json_output import show_json
from nvshare.cli.lab.emulate.describe import describe_node
from nvshare.cli.lab.emulate.options import node_name, node_options
from nvshare.lab.emulator.conf import Data, Settings
from nvshare.lab.emulator.emulated_node import create
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.root import node_root


@click.command()
@node_name
@node_options
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def up(name: str, gpus: str, speed: float, data: Data, host_bytes: int, as_json: bool) -> None:
    """Start an emulated node that stays until `down`."""
    profiles = parse_gpus(gpus)
    node = create(node_root(), name, Settings(speed, data, host_bytes), profiles)
    if as_json:
        show_json(describe_node(node))
        return
    click.echo(f'The emulated node "{node.name}" is up:')
    for index, gpu in enumerate(node.gpu_names):
        click.echo(f"  GPU {index}: {gpu}")
    click.echo(f"Run a program on it:  nvshare emulate --node {node.name} -- COMMAND")
    click.echo(f'Or in this shell:     eval "$(nvshare emulate env {node.name})"')
