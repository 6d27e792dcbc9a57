"""What a person can choose, and how many files it takes to follow something."""

from collections.abc import Iterator
from pathlib import Path

import click

from nvshare.cli.main import cli
from nvshare.parsing import parse_toml
from nvshare.settings import DeviceSettings


def settings() -> int:
    """Return how many settings a GPU has."""
    return len(DeviceSettings.model_fields)


def options() -> dict[str, int]:
    """Return how many options each verb has, together with all below it."""
    with click.Context(cli) as context:
        return {name: sum(_options(one, context)) for name, one in _below(cli, context)}


def _options(command: click.Command, context: click.Context) -> Iterator[int]:
    """Return the number of options of a command, and of each one below it."""
    yield sum(isinstance(one, click.Option) and not one.hidden for one in command.params)
    for _, below in _below(command, context):
        yield from _options(below, context)


def _below(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield name, below


def ways(folder: Path) -> dict[str, int]:
    """Return how many files each way of docs/ways passes."""
    return {path.stem: len(set(_files(path))) for path in sorted(folder.glob("*.toml"))}


def _files(path: Path) -> Iterator[str]:
    yield from (step["file"] for step in parse_toml(path.read_text(encoding="utf-8"))["step"])
