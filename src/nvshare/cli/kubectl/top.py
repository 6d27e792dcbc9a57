"""``kubectl nvshare top``: pods by the GPU memory that they use."""

from collections.abc import Sequence

import click
from rich.markup import escape

from nvshare.cli.json_output import show_json
from nvshare.cli.kubectl.cluster import Cluster, NodeView
from nvshare.cli.output import Column, Rows, follow, show
from nvshare.cli.status_table import duration, gib, limits
from nvshare.telemetry.snapshot import ClientStatus

_PERIOD = 2.0


@click.command()
@click.option("--watch", is_flag=True, help="Repeat until interrupted.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per program.")
@click.pass_obj
def top(cluster: Cluster, watch: bool, as_json: bool) -> None:
    """Show the programs of all pods, the largest first."""
    if as_json:
        for node, index, client in _rows(cluster.nodes()):
            show_json({"node": node, "index": index, **client.model_dump()})
    elif watch:
        follow(lambda: draw_pods(cluster.nodes()), _PERIOD)
    else:
        show(draw_pods(cluster.nodes()))


def draw_pods(views: Sequence[NodeView]) -> Rows:
    """Draw one row per program."""
    table = Rows(
        *("pod", Column("container", rank=4), Column("id", rank=3), "program", "node", "GPU"),
        *("state", "memory", Column("limits", rank=1), Column("GPU time", rank=2)),
    )
    for node, index, client in _rows(views):
        table.add_row(
            escape(client.pod_name or "-"),
            escape(client.container_name or "-"),
            str(client.id),
            escape(client.program),
            node,
            str(index),
            client.state,
            f"{gib(client.allocated)} GiB",
            limits(client),
            duration(client.busy_seconds),
        )
    return table


def _rows(views: Sequence[NodeView]) -> list[tuple[str, int, ClientStatus]]:
    rows = [
        (view.name, gpu.index, client)
        for view in views
        if view.status is not None
        for gpu in view.status.devices
        for client in view.status.clients
        if client.device == gpu.uuid
    ]
    return sorted(rows, key=lambda row: -row[2].allocated)
