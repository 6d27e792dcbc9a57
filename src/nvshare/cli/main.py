"""The ``nvshare`` command: gathers the verbs, and shows errors to people.

A verb is imported when it is used: `nvshare run` stands in front of other people's programs, and
must not load tables, colours and servers first.
"""

from importlib import import_module
from typing import Any

import click

from nvshare.errors import NvshareError

# In the order of the help text: where each verb is.
VERBS = {
    "run": "nvshare.cli.run:run",
    "status": "nvshare.cli.status:status",
    "ls": "nvshare.cli.ls:ls",
    "limit": "nvshare.cli.limit:limit",
    "set": "nvshare.cli.set:change",
    "park": "nvshare.cli.park:park",
    "unpark": "nvshare.cli.park:unpark",
    "daemon": "nvshare.cli.daemon:daemon",
    "device-plugin": "nvshare.cli.device_plugin:device_plugin",
    "doctor": "nvshare.cli.doctor:doctor",
    "replay": "nvshare.cli.replay:replay",
    "simulate": "nvshare.cli.simulate:simulate",
    "demo": "nvshare.cli.demo:demo",
    "emulate": "nvshare.cli.emulate:emulate",
    "workload": "nvshare.cli.workload:workload",
    "bench": "nvshare.cli.bench:bench",
}


class Verbs(click.Group):
    """A group whose verbs may raise NvshareError."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb; an error that is meant for a person is shown without a traceback."""
        try:
            return super().invoke(ctx)
        except NvshareError as error:
            _show(error)
            ctx.exit(error.exit_code)


class LazyVerbs(Verbs):
    """The verbs of the table, imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return all names."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a verb."""
        if cmd_name not in VERBS:
            return None
        module, _, attribute = VERBS[cmd_name].partition(":")
        verb: click.Command = getattr(import_module(module), attribute)
        return verb


@click.group(cls=LazyVerbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="nvshare", prog_name="nvshare", message="%(prog)s %(version)s")
def cli() -> None:
    """Share GPUs between programs, each as if it had a whole GPU to itself."""


def _show(error: NvshareError) -> None:
    click.echo(f"nvshare: {error.what}", err=True)
    if error.why:
        click.echo(f"  why: {error.why}", err=True)
    if error.do:
        click.echo(f"  what to do: {error.do}", err=True)


def main() -> None:
    """Run the command line and exit."""
    cli(prog_name="nvshare")
