"""Options and arguments that several verbs of ``nvshare emulate`` share."""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

from nvshare.cli import completing
from nvshare.cli.quantities import Quantity
from nvshare.lab.emulator.emulated_node import DEFAULT_NAME

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Speed(click.FloatRange):
    """A positive number. The range check alone would accept "nan"."""

    def __init__(self) -> None:
        super().__init__(min=0.001, max=1_000_000)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read the number."""
        speed = float(super().convert(value, param, ctx))
        if math.isnan(speed):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return speed


node_name = click.argument(
    "name", metavar="[NAME]", default=DEFAULT_NAME, shell_complete=completing.nodes
)


def node_options(function: Decorated) -> Decorated:
    """Add the options that describe a new node."""
    for option in reversed(_NODE_OPTIONS):
        function = option(function)
    return function


_NODE_OPTIONS = [
    click.option(
        "--gpus",
        default="1xt4",
        show_default=True,
        metavar="LIST",
        shell_complete=completing.profiles,
        help="GPUs of the node, such as 2xt4,1xa100-40g or 2x./my.toml.",
    ),
    click.option(
        "--speed",
        type=Speed(),
        default=1.0,
        show_default=True,
        metavar="N",
        help="Emulated seconds per real second.",
    ),
    click.option(
        "--data",
        type=click.Choice(["on", "off"]),
        default="on",
        show_default=True,
        help="Whether GPU memory keeps its contents. Off: copies take time, but store nothing.",
    ),
    click.option(
        "--host-memory",
        "host_bytes",
        type=Quantity(),
        default="256Gi",
        show_default=True,
        metavar="SIZE",
        help="Memory of the emulated host, which takes memory that moves out of the GPUs.",
    ),
]
