"""``nvshare run -- COMMAND``: put a program under the daemon, and become it."""

import ctypes
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from nvshare.cli.command import WithCommand, command_of
from nvshare.errors import BadInputError, NvshareError
from nvshare.launch.child import CannotStartError
from nvshare.launch.preload import ALLOCATIONS, Wishes, library, program_environment
from nvshare.launch.start import find_or_start
from nvshare.quantity import parse_quantity
from nvshare.wire import environment


class Quantity(click.ParamType[int]):
    """An amount of memory."""

    name = "quantity"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it."""
        try:
            return parse_quantity(value)
        except BadInputError as error:
            self.fail(f"{error.what}. {error.do}.", param, ctx)


@click.command(cls=WithCommand)
@click.option("--gpu", "gpus", metavar="LIST", help="GPUs it sees: indexes or UUIDs, by commas.")
@click.option("--memory", type=Quantity(), metavar="SIZE", help="Most GPU memory, such as 4Gi.")
@click.option(
    "--compute",
    type=click.IntRange(1, 100),
    metavar="PERCENT",
    help="Most of the GPU's time, 1 to 100.",
)
@click.option(
    "--burst", is_flag=True, help="It may have more of that while nobody else wants the GPU."
)
@click.option("--priority", type=click.Choice(["high", "normal", "low"]), help="Who goes first.")
@click.option(
    "--allocation",
    type=click.Choice(ALLOCATIONS),
    help="How memory is allocated: as unified memory, as memory that nvshare copies itself, as the "
    "program asks for it, and then it is never moved, or as the daemon thinks best.",
)
@click.pass_context
def run(
    ctx: click.Context,
    gpus: str | None,
    memory: int | None,
    compute: int | None,
    burst: bool,
    priority: str | None,
    allocation: str | None,
) -> None:
    """Run a command that shares its GPU with others.

    A daemon is started if there is none. The exit code and all signals are the command's own. All
    processes of the command share its limits.
    """
    if memory == 0:
        ctx.fail("--memory 0 would leave nothing to allocate.")
    check_limits(os.environ)
    path = library()
    check_driver()
    folder = find_or_start(os.environ, _announce)
    wishes = Wishes(
        gpus=gpus,
        memory_bytes=memory,
        compute_percent=compute,
        burst=burst,
        priority=priority,
        allocation=allocation,
    )
    variables = program_environment(wishes, folder, path, os.environ)
    become(command_of(ctx), {**os.environ, **variables})


def _announce(folder: Path) -> None:
    click.echo(f"nvshare: started a daemon, in {folder}", err=True)


def become(command: list[str], variables: dict[str, str]) -> None:
    """Replace this process: nothing stays between the command and whoever started it."""
    try:
        os.execvpe(command[0], command, variables)  # noqa: S606 (running it is the point)
    except OSError as error:
        raise CannotStartError(command[0], error) from error


def check_limits(environ: Mapping[str, str]) -> None:
    """Refuse limits in the environment that the library would not understand."""
    checks: dict[str, Callable[[str], bool]] = {
        environment.GPU_MEMORY_LIMIT: _is_some_memory,
        environment.GPU_CORE_LIMIT: lambda text: (
            text.isascii() and text.isdecimal() and 1 <= int(text) <= 100
        ),
        environment.GPU_PRIORITY: lambda text: text in ("high", "normal", "low"),
    }
    for name, is_good in checks.items():
        if (value := environ.get(name)) and not is_good(value):
            raise BadInputError(
                f'{name} is "{value}", which is no limit',
                why="the command would get no access to the GPU, rather than run without a limit",
                do=f"correct it, or unset it; docs/environment.md says what {name} can be",
            )


def _is_some_memory(text: str) -> bool:
    try:
        return parse_quantity(text) > 0
    except BadInputError:
        return False


def check_driver() -> None:
    """Say so if there is no CUDA driver, before a program fails in a worse way."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise NvshareError(
            "there is no CUDA driver on this machine",
            why=str(error),
            do="install the NVIDIA driver; or try nvshare on emulated GPUs, with "
            "`nvshare emulate --gpus 2xt4 -- nvshare run -- COMMAND`",
        ) from error
