"""``nvshare completion``: what a shell has to read to complete the command line."""

import click
from click.shell_completion import get_completion_class

from nvshare.cli.completing import COMPLETE
from nvshare.errors import NvshareError

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script by which a shell completes GPUs, programs and verbs.

    bash: eval "$(nvshare completion bash)"

    zsh: eval "$(nvshare completion zsh)"

    fish: nvshare completion fish | source

    Put the line into ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish.
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise NvshareError(f"there is no completion for {shell}")
    script = kind(ctx.find_root().command, {}, "nvshare", COMPLETE)
    click.echo(script.source(), nl=False)
