"""The ``nvshare`` command: gathers the verbs, and shows errors to people.

A verb is imported when it is used: `nvshare run` delays the start of a program, and must not load
tables, colours and servers first.
"""

import os
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from nvshare.cli.completing import COMPLETE
from nvshare.cli.groups import ListedGroup
from nvshare.cli.plain import prepare_streams
from nvshare.cli.verbs import SECTIONS, VERBS
from nvshare.errors import NvshareError


class Verbs(ListedGroup):
    """A group whose verbs may raise NvshareError."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb; show an error that is meant for the user without a traceback."""
        try:
            return super().invoke(ctx)
        except NvshareError as error:
            _show(error)
            ctx.exit(error.exit_code)


class LazyVerbs(Verbs):
    """The verbs of the table, imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return all names."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a verb."""
        if cmd_name not in VERBS:
            return None
        module, _, attribute = VERBS[cmd_name].place.partition(":")
        verb: click.Command = getattr(import_module(module), attribute)
        return verb

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Look a verb up; for a misspelt one, suggest similar names."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            # click knows only the verbs that are imported.
            raise click.NoSuchCommand(error.command_name, possibilities=VERBS, ctx=ctx) from None

    def sections(self, ctx: click.Context) -> dict[str, Iterable[str]]:  # noqa: ARG002
        """Return the verbs by heading."""
        return dict(SECTIONS)

    def summary(self, ctx: click.Context, name: str) -> str:  # noqa: ARG002
        """Return what a verb does, without importing it."""
        return VERBS[name].summary

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["CompletionItem[str]"]:
        """Offer verbs, without importing them, and the options of all."""
        begun = {name: verb for name, verb in VERBS.items() if name.startswith(incomplete)}
        offers = [CompletionItem(name, help=verb.summary) for name, verb in begun.items()]
        return [*offers, *click.Command.shell_complete(self, ctx, incomplete)]


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
    prepare_streams()
    if COMPLETE not in os.environ:
        cli(prog_name="nvshare")
    try:
        cli(prog_name="nvshare", complete_var=COMPLETE)
    except Exception:  # noqa: BLE001 (whatever it is, it would end up in a line being typed)
        sys.exit(1)
