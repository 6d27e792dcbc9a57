"""The ``kubectl-nvshare`` command, which kubectl finds by its name."""

import click

from nvshare.cli.kubectl.cluster import Cluster
from nvshare.cli.kubectl.limit import limit
from nvshare.cli.kubectl.status import status
from nvshare.cli.kubectl.top import top
from nvshare.cli.main import Verbs


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="nvshare", message="%(version)s")
@click.option("--context", metavar="NAME", help="Context of kubectl.")
@click.option("--kubeconfig", metavar="FILE", help="Configuration of kubectl.")
@click.pass_context
def cli(ctx: click.Context, context: str | None, kubeconfig: str | None) -> None:
    """Share the GPUs of a cluster between pods."""
    options = [f"--context={context}"] if context else []
    options += [f"--kubeconfig={kubeconfig}"] if kubeconfig else []
    ctx.obj = Cluster(options)


for verb in (status, top, limit):
    cli.add_command(verb)


def main() -> None:
    """Run the command line and exit."""
    cli(prog_name="kubectl nvshare")
