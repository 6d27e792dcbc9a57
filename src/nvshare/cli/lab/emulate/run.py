"""``nvshare emulate … -- COMMAND``: run a command on an emulated node."""

import os
from contextlib import AbstractContextManager, nullcontext
from difflib import get_close_matches

import click
from click.core import ParameterSource

from nvshare.cli import completing
from nvshare.cli.groups import ListedGroup
from nvshare.cli.lab.emulate.options import node_options
from nvshare.lab.emulator.conf import Data, Settings
from nvshare.lab.emulator.emulated_node import Node, find
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node
from nvshare.launch.child import run_child

_COMMAND = "nvshare.emulate.command"


class CommandOrVerb(ListedGroup):
    """A group that also takes ``-- COMMAND…`` in place of a verb."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Cut the command off at the first ``--``, so that its options are left alone."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_COMMAND] = args[at + 1 :]
            args = args[:at]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Look a verb up; point out a missing ``--`` before a command."""
        if self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            close = get_close_matches(args[0], self.commands)
            meant = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
            ctx.fail(
                f"There is no verb {args[0]!r}.{meant} To run a program, put -- before it: "
                f"nvshare emulate -- {args[0]} …"
            )
        return super().resolve_command(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Show both forms in the usage line."""
        return ["[OPTIONS] -- COMMAND… | VERB …"]


@click.group(cls=CommandOrVerb, invoke_without_command=True)
@node_options
@click.option(
    "--node",
    "name",
    metavar="NAME",
    shell_complete=completing.nodes,
    help="Run on this node, which is up already.",
)
@click.pass_context
def emulate(
    ctx: click.Context,
    gpus: str,
    speed: float,
    data: Data,
    host_bytes: int,
    name: str | None,
) -> None:
    """Run a command on emulated GPUs, or manage a node that several terminals share.

    With a command, the node lives as long as the command:

        nvshare emulate --gpus 2xt4 --speed 100 -- python train.py
    """
    command: list[str] | None = ctx.meta.get(_COMMAND)
    given = _options_given(ctx)
    if ctx.invoked_subcommand is not None:
        if command is not None:
            ctx.fail(f"{ctx.invoked_subcommand} takes no command after --.")
        if given:
            ctx.fail(f"{given[0]} belongs after {ctx.invoked_subcommand}, not before it.")
        return
    if command is None and not given:
        click.echo(ctx.get_help())
        return
    if not command:
        ctx.fail("There is no command to run. Put it after --.")
    if name is not None and (extra := [option for option in given if option != "--node"]):
        ctx.fail(f"{extra[0]} describes a new node, and --node names one that is up already.")

    root = node_root()
    place: AbstractContextManager[Node]
    if name is not None:
        place = nullcontext(find(root, name))
    else:
        settings = Settings(speed, data, host_bytes)
        place = transient_node(root, settings, parse_gpus(gpus))
    libraries = library_folder()
    with place as node:
        code = run_child(command, {**os.environ, **node.environment(libraries, os.environ)})
    ctx.exit(code)


def _options_given(ctx: click.Context) -> list[str]:
    return [
        parameter.opts[0]
        for parameter in ctx.command.params
        if ctx.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
    ]
