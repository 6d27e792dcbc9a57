"""``nvshare emulate ls``: list the nodes of this user."""

from collections import Counter

import click
from rich.console import Console
from rich.table import Column, Table

from nvshare.emulator.conf import format_speed
from nvshare.emulator.node import find, list_names
from nvshare.emulator.root import node_root
from nvshare.emulator.transient import sweep
from nvshare.errors import NvshareError


@click.command()
def ls() -> None:
    """List the emulated nodes."""
    root = node_root()
    sweep(root)
    table = Table("node", "GPUs", "speed", Column("folder", overflow="fold"), box=None)
    for name in list_names(root):
        # One damaged node must not hide the others.
        try:
            node = find(root, name)
        except NvshareError as error:
            table.add_row(name, error.what, "", str(root / name))
        else:
            gpus = ", ".join(f"{n}x {gpu}" for gpu, n in Counter(node.gpu_names).items())
            table.add_row(name, gpus, format_speed(node.speed), str(node.folder))
    if table.row_count:
        Console().print(table)
    else:
        click.echo("There is no emulated node. Start one with `nvshare emulate up`.")
