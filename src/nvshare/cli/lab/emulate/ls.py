"""``nvshare emulate ls``: list the nodes of this user."""

from collections import Counter
from pathlib import Path

import click
from rich.markup import escape

from nvshare.cli.json_output import show_json
from nvshare.cli.lab.emulate.describe import describe_node
from nvshare.cli.output import Column, Rows, show
from nvshare.errors import NvshareError
from nvshare.lab.emulator.conf import format_speed
from nvshare.lab.emulator.emulated_node import Node, find, list_names
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import sweep


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per node.")
def ls(as_json: bool) -> None:
    """List the emulated nodes."""
    root = node_root()
    sweep(root)
    nodes = [(name, _find(root, name)) for name in list_names(root)]
    if as_json:
        for name, node in nodes:
            show_json(_described(root, name, node))
    elif nodes:
        show(_table(root, nodes))
    else:
        click.echo("There is no emulated node. Start one with `nvshare emulate up`.")


def _find(root: Path, name: str) -> Node | NvshareError:
    # One damaged node must not hide the others.
    try:
        return find(root, name)
    except NvshareError as error:
        return error


def _described(root: Path, name: str, node: Node | NvshareError) -> dict[str, object]:
    if isinstance(node, Node):
        return describe_node(node)
    return {"node": name, "folder": str(root / name), "problem": node.what}


def _table(root: Path, nodes: list[tuple[str, Node | NvshareError]]) -> Rows:
    table = Rows("node", "GPUs", Column("speed", rank=1), Column("folder", rank=2))
    for name, node in nodes:
        folder = escape(str(root / name))
        if isinstance(node, NvshareError):
            table.add_row(name, escape(node.what), "", folder)
            continue
        gpus = ", ".join(f"{n}x {gpu}" for gpu, n in Counter(node.gpu_names).items())
        table.add_row(name, escape(gpus), format_speed(node.speed), folder)
    return table
