"""``nvshare completion``: prints the script by which a shell completes the command line."""

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from nvshare.cli.completing import COMPLETE


class _Zsh(ZshComplete):
    """Click's script needs compdef, which exists only once zsh's completion is initialised."""

    source_template = (
        "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n"
        + ZshComplete.source_template
    )


class _Fish(FishComplete):
    """Click's script splits a line at every comma, which would cut explanations and lists short."""

    source_template = """\
function %(complete_func)s
    set -l line (commandline --current-process --cut-at-cursor)
    set -l word (commandline --current-token --cut-at-cursor)
    for offer in (env %(complete_var)s=fish_complete COMP_WORDS="$line" COMP_CWORD="$word" nvshare)
        set -l parts (string split --max 1 -- , $offer)
        switch $parts[1]
            case dir
                __fish_complete_directories $parts[2]
            case file
                __fish_complete_path $parts[2]
            case plain
                echo $parts[2]
        end
    end
end
complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": _Zsh, "fish": _Fish}


@click.command()
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script by which a shell completes GPUs, programs and verbs.

    bash: eval "$(nvshare completion bash)"

    zsh: eval "$(nvshare completion zsh)"

    fish: nvshare completion fish | source

    Put the line into ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish.
    """
    script = SHELLS[shell](ctx.find_root().command, {}, "nvshare", COMPLETE)
    click.echo(script.source(), nl=False)
