"""How groups of verbs are listed in their help: in sections, and untruncated."""

from collections.abc import Iterable

import click

# No limit on the length: the formatter breaks lines.
_WHOLE = 1 << 16


class ListedGroup(click.Group):
    """A group of verbs whose help lists each with its whole first sentence."""

    def sections(self, ctx: click.Context) -> dict[str, Iterable[str]]:
        """Return the names of the verbs, by heading."""
        return {"Commands": self.list_commands(ctx)}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs by section, all with the same indentation."""
        longest = max(map(len, self.list_commands(ctx)))
        for title, names in self.sections(ctx).items():
            with formatter.section(title):
                rows = [(name.ljust(longest), self.summary(ctx, name)) for name in names]
                formatter.write_dl(rows)

    def summary(self, ctx: click.Context, name: str) -> str:
        """Return the first sentence of a verb's help."""
        verb = self.get_command(ctx, name)
        return verb.get_short_help_str(_WHOLE) if verb else ""
