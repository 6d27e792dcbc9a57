"""``nvshare ls``: the programs that share GPUs, one line each, for people and for scripts."""

import click

from nvshare.cli.control import Daemon
from nvshare.quantity import format_quantity


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def ls(as_json: bool) -> None:
    """List programs: id, pid, user, GPU, state, allocated bytes, program."""
    status = Daemon().status()
    index = {gpu.uuid: gpu.index for gpu in status.devices}
    for client in status.clients:
        if as_json:
            click.echo(client.model_dump_json())
            continue
        words = [str(client.id), str(client.pid), client.user, str(index.get(client.device, "?"))]
        words += [client.state, format_quantity(client.allocated), client.program]
        click.echo("\t".join(words))
