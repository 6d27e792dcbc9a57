"""Verbs that end in ``-- COMMAND…``: what is behind the dashes is not ours to read."""

import click

_COMMAND = "nvshare.command"


class WithCommand(click.Command):
    """A verb that runs a program. Its own options end at the first ``--``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Cut the command off, so that its options are left alone."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_COMMAND] = args[at + 1 :]
            args = args[:at]
        rest = super().parse_args(ctx, args)
        if not ctx.meta.get(_COMMAND):
            ctx.fail(f"There is no command to run. Put it after --: {ctx.command_path} -- COMMAND…")
        return rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Show where the command goes."""
        return [*super().collect_usage_pieces(ctx), "-- COMMAND…"]


def command_of(ctx: click.Context) -> list[str]:
    """Return the command."""
    command: list[str] = ctx.meta[_COMMAND]
    return command
