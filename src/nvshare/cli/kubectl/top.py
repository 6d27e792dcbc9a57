"""``kubectl nvshare top``: pods by the GPU memory that they use."""

import contextlib
import time
from collections.abc import Sequence

import click
from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from nvshare.cli.kubectl.cluster import Cluster, NodeView
from nvshare.cli.status_table import duration, gib, limits

_PERIOD = 2.0


@click.command()
@click.option("--watch", is_flag=True, help="Go on until interrupted.")
@click.pass_obj
def top(cluster: Cluster, watch: bool) -> None:
    """Show the programs of all pods, the largest first."""
    if not watch:
        Console().print(draw_pods(cluster.nodes()))
        return
    # Control-C is how one ends it.
    with contextlib.suppress(KeyboardInterrupt), Live(auto_refresh=False) as live:
        while True:
            live.update(draw_pods(cluster.nodes()), refresh=True)
            time.sleep(_PERIOD)


def draw_pods(views: Sequence[NodeView]) -> Table:
    """Draw one row per program."""
    table = Table(
        "pod", "container", "program", "node", "GPU", "state", "memory", "limits", "GPU time"
    )
    rows = [
        (view.name, gpu.index, client)
        for view in views
        if view.status is not None
        for gpu in view.status.devices
        for client in view.status.clients
        if client.device == gpu.uuid
    ]
    for node, index, client in sorted(rows, key=lambda row: -row[2].allocated):
        table.add_row(
            escape(client.pod_name or "-"),
            escape(client.container_name or "-"),
            escape(client.program),
            node,
            str(index),
            client.state,
            f"{gib(client.allocated)} GiB",
            limits(client),
            duration(client.busy_seconds),
        )
    return table
