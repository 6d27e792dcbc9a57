"""``nvshare daemon``: share the GPUs of this machine until told to stop."""

import os
from typing import TYPE_CHECKING

import click

from nvshare.daemon.config import Config, Sources, find_file

if TYPE_CHECKING:
    from nvshare.daemon.main import Companion


@click.command()
@click.option("--config", metavar="FILE", help="Configuration file.")
@click.option("--socket-dir", metavar="FOLDER", help="Folder for the sockets.")
@click.option(
    "--devices", metavar="LIST", help="GPUs to share: indexes or UUIDs, separated by commas."
)
@click.option(
    "--beside-others", is_flag=True, default=None, help="Share GPUs even if another daemon does."
)
@click.option("--mode", metavar="MODE", help="auto, serial, concurrent or off, for every GPU.")
@click.option("--turn", metavar="SECONDS", help="Length of a turn, or auto, for every GPU.")
@click.option("--reserve", metavar="SIZE", help="GPU memory to keep free, or auto.")
@click.option("--log", metavar="LEVEL", help="debug, info or warn.")
@click.option("--log-format", metavar="FORM", help="text or json.")
@click.option("--log-file", metavar="FILE", help="Log to a file.")
@click.option("--metrics-address", metavar="HOST:PORT", help="Also serve metrics on this address.")
@click.option(
    "--idle-exit", type=float, metavar="SECONDS", help="Exit after SECONDS without clients."
)
@click.option(
    "--paced", is_flag=True, help="On an emulated node: settings are in emulated seconds."
)
@click.option("--print-config", is_flag=True, help="Print the effective configuration and exit.")
def daemon(
    config: str | None,
    socket_dir: str | None,
    devices: str | None,
    beside_others: bool | None,
    mode: str | None,
    turn: str | None,
    reserve: str | None,
    log: str | None,
    log_format: str | None,
    log_file: str | None,
    metrics_address: str | None,
    idle_exit: float | None,
    paced: bool,
    print_config: bool,
) -> None:
    """Share the GPUs of this machine.

    SIGHUP reads the configuration again; SIGTERM ends the daemon and leaves programs running.
    """
    gpu = _given(mode=mode, turn_seconds=turn, reserve=reserve)
    flags = _given(
        socket_dir=socket_dir,
        devices=devices,
        beside_others=beside_others,
        log=log,
        log_format=log_format,
        log_file=log_file,
        metrics_address=metrics_address,
        idle_exit=idle_exit,
        paced=paced or None,
        gpu=gpu or None,
    )
    sources = Sources(find_file(config, os.environ), dict(os.environ), flags)
    if print_config:
        click.echo(sources.load().model_dump_json(indent=2))
        return
    # Servers take a while to import, and `--help` does not need them.
    from nvshare.daemon.main import run

    run(sources, _companion(sources.load()))


def _companion(config: Config) -> "Companion | None":
    """Return the services that run beside the daemon on a node of a cluster."""
    if not config.cluster.node:
        return None
    from nvshare.kubernetes.client import in_cluster
    from nvshare.kubernetes.follow import follow_pods

    access = in_cluster(os.environ)
    return lambda config, node: follow_pods(
        access,
        config.cluster.node,
        node.limits.change_pod,
        hami=config.cluster.hami,
        ceiling_of=lambda namespace: node.pods.ceilings.of(namespace),
        on_notice=node.pods.on_notice,
    )


def _given(**values: object) -> dict[str, object]:
    return {name: value for name, value in values.items() if value is not None}
