"""``kubectl nvshare status``: the GPUs of all nodes and the programs that share them."""

import click
from rich.text import Text

from nvshare.cli.board import Board
from nvshare.cli.json_output import show_json
from nvshare.cli.kubectl.cluster import Cluster
from nvshare.cli.output import show


@click.command()
@click.argument("node", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per node.")
@click.pass_obj
def status(cluster: Cluster, node: str | None, as_json: bool) -> None:
    """Show GPUs, settings and programs of all nodes, or of one."""
    for view in cluster.nodes(node):
        if as_json:
            shown = view.status.model_dump() if view.status else None
            show_json({"node": view.name, "status": shown, "problem": view.problem or None})
            continue
        show(Text(f"node {view.name}", style="bold"))
        show(Board(view.status) if view.status else Text(view.problem, style="red"))
