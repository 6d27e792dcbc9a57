"""What a person can choose, and how many files it takes to follow something."""

from collections.abc import Iterator

import click

from nvshare.cli.main import cli
from nvshare.settings import DeviceSettings
from tools.docs.ways.way import names, read


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


def ways() -> dict[str, int]:
    """Return how many files each way of docs/ways passes."""
    return {name: len(read(name).files) for name in names()}
