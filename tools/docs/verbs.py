"""The command line as data, read from click's own commands: for the reference and the man pages."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass

import click

from nvshare.cli.kubectl.main import cli as kubectl_cli
from nvshare.cli.main import cli as nvshare_cli
from nvshare.cli.verbs import SECTIONS


@dataclass(frozen=True)
class Option:
    """An option: how it is written, and what it does."""

    names: str
    help: str


@dataclass(frozen=True)
class Verb:
    """A command with the contents of its help."""

    name: str
    usage: str
    paragraphs: tuple[str, ...]
    options: tuple[Option, ...]


def sections() -> dict[str, list[Verb]]:
    """Return all verbs, with their subcommands, by the headings of the help."""
    context = click.Context(nvshare_cli, info_name="nvshare")
    found = {
        title: [verb for name in names for verb in _walk(nvshare_cli, context, name)]
        for title, names in SECTIONS.items()
    }
    return {**found, "In a cluster": kubectl_verbs()}


def kubectl_verbs() -> list[Verb]:
    """Return the verbs of the plugin for kubectl."""
    context = click.Context(kubectl_cli, info_name="kubectl nvshare")
    return [_described(kubectl_cli, context)] + [
        verb
        for name in kubectl_cli.list_commands(context)
        for verb in _walk(kubectl_cli, context, name)
    ]


def _walk(group: click.Group, context: click.Context, name: str) -> Iterator[Verb]:
    command = group.get_command(context, name)
    if command is None or command.hidden:
        return
    here = click.Context(command, info_name=name, parent=context)
    yield _described(command, here)
    if isinstance(command, click.Group):
        for inner in command.list_commands(here):
            yield from _walk(command, here, inner)


def _described(command: click.Command, context: click.Context) -> Verb:
    pieces = " ".join(command.collect_usage_pieces(context))
    name = context.command_path
    options = tuple(
        Option(_written(parameter, context), _explained(parameter))
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option) and "--help" not in parameter.opts
        if not parameter.hidden
    )
    return Verb(name, f"{name} {pieces}".strip(), _paragraphs(command), options)


def _written(option: click.Option, context: click.Context) -> str:
    names = ", ".join(sorted(option.opts, key=len))
    if option.secondary_opts:
        names += f" / {', '.join(option.secondary_opts)}"
    return names if option.is_flag or option.count else f"{names} {option.make_metavar(context)}"


def _explained(option: click.Option) -> str:
    """Return the help of an option without click's layout, which may change."""
    text = " ".join((option.help or "").split())
    shown = option.show_default and option.default not in (None, False, ())
    return f"{text} Default: {option.default}." if shown else text


def _paragraphs(command: click.Command) -> tuple[str, ...]:
    """Return the help's text; an example keeps its indentation, any other paragraph is one line."""
    text = inspect.cleandoc(command.help or "").replace("\b\n", "")
    parts = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    return tuple(part if part.startswith("    ") else " ".join(part.split()) for part in parts)


def is_example(paragraph: str) -> bool:
    """Whether a paragraph is a command rather than a sentence."""
    command = paragraph.strip()
    return paragraph.startswith("    ") or (
        command.startswith(("nvshare ", "kubectl nvshare ")) and not command.endswith(".")
    )
