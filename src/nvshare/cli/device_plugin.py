"""``nvshare device-plugin``: offer the GPUs of this node to Kubernetes."""

import asyncio
import os
from pathlib import Path

import click

from nvshare.errors import NvshareError
from nvshare.kubernetes.settings import PluginSettings

_DEFAULT = PluginSettings()
_path = click.Path(path_type=Path)


@click.command("device-plugin")
@click.option(
    "--resource",
    default=_DEFAULT.resource,
    show_default=True,
    help="Resource name that pods request.",
)
@click.option(
    "--replicas",
    type=click.IntRange(1, 1000),
    default=_DEFAULT.replicas,
    show_default=True,
    help="How many pods can share a GPU.",
)
@click.option(
    "--oversubscription",
    type=click.FloatRange(min=0, min_open=True),
    metavar="RATIO",
    help="Memory that a GPU may promise to pods, as a multiple of what it has. Default: no bound.",
)
@click.option(
    "--preload",
    type=click.Choice(["environment", "file"]),
    default=_DEFAULT.preload,
    show_default=True,
    help="How the library gets into programs: LD_PRELOAD, or /etc/ld.so.preload.",
)
@click.option(
    "--devices",
    type=click.Choice(["environment", "cdi"]),
    default=_DEFAULT.devices,
    show_default=True,
    help="How GPUs get into containers: NVIDIA_VISIBLE_DEVICES, or CDI.",
)
@click.option(
    "--installed",
    type=_path,
    default=_DEFAULT.installed,
    show_default=True,
    help="Folder of the node that the library was installed in.",
)
@click.option(
    "--socket-dir",
    "sockets",
    type=_path,
    default=_DEFAULT.sockets,
    show_default=True,
    help="Folder of the node with the daemon's socket.",
)
@click.option("--node", envvar="NVSHARE_NODE_NAME", default="", help="Name of this node.")
@click.option("--hami", is_flag=True, help="Accept limits in HAMi's names as well.")
@click.option(
    "--emulated", type=_path, metavar="FOLDER", help="Offer the GPUs of this emulated node."
)
@click.option("--kubelet", type=_path, default=_DEFAULT.kubelet, help="Kubelet's folder.")
@click.option("--health", type=_path, metavar="SOCKET", help="Socket for health probes.")
@click.option("--log", default="info", metavar="LEVEL", help="debug, info or warn.")
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text")
def device_plugin(health: Path | None, log: str, log_format: str, **options: object) -> None:
    """Offer the GPUs of this node to Kubernetes until stopped."""
    from nvshare.daemon import logs

    try:
        from nvshare.kubernetes.device_plugin import serve
    except ImportError as error:
        raise NvshareError(
            "the device plugin is not installed completely",
            why=str(error),
            do='install what it needs, with `pip install "nvshare[kubernetes]"`',
        ) from error
    from nvshare.kubernetes.client import in_cluster

    settings = PluginSettings(**options)  # type: ignore[arg-type]
    access = in_cluster(os.environ) if settings.node else None
    logs.set_up(log, "json" if log_format == "json" else "text", "")
    asyncio.run(serve(settings, access, health))
