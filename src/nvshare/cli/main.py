"""The ``nvshare`` command: gathers the verbs, and shows errors to people."""

from typing import Any

import click

import nvshare
from nvshare.cli.bench import bench
from nvshare.cli.demo import demo
from nvshare.cli.emulate import emulate
from nvshare.cli.workload import workload
from nvshare.errors import NvshareError


class Verbs(click.Group):
    """A group whose verbs may raise NvshareError."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb; an error that is meant for a person is shown without a traceback."""
        try:
            return super().invoke(ctx)
        except NvshareError as error:
            _show(error)
            ctx.exit(error.exit_code)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(nvshare.__version__, prog_name="nvshare", message="%(prog)s %(version)s")
def cli() -> None:
    """Share GPUs between programs, each as if it had a whole GPU to itself."""


for verb in (demo, emulate, workload, bench):
    cli.add_command(verb)


def _show(error: NvshareError) -> None:
    click.echo(f"nvshare: {error.what}", err=True)
    if error.why:
        click.echo(f"  why: {error.why}", err=True)
    if error.do:
        click.echo(f"  what to do: {error.do}", err=True)


def main() -> None:
    """Run the command line and exit."""
    cli(prog_name="nvshare")
