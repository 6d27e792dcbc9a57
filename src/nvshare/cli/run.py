"""``nvshare run COMMAND``: put a program under the daemon, and become it."""

import ctypes
import os
from collections.abc import Callable, Mapping

import click

from nvshare.cli import completing
from nvshare.cli.gpus import choose_gpus, warn_of_large_limit
from nvshare.cli.quantities import Quantity
from nvshare.errors import BadInputError, NvshareError
from nvshare.launch.child import CannotStartError
from nvshare.launch.preload import ALLOCATIONS, Wishes, library, program_environment
from nvshare.launch.start import find_or_start
from nvshare.launch.trust import name_owner
from nvshare.quantity import parse_quantity
from nvshare.wire import environment


@click.command(context_settings={"allow_interspersed_args": False})
@click.option(
    "--gpu",
    "gpus",
    metavar="LIST",
    shell_complete=completing.gpus,
    help="GPUs the program sees: indexes or UUIDs, separated by commas.",
)
@click.option("--memory", type=Quantity(), metavar="SIZE", help="Limit of GPU memory, such as 4Gi.")
@click.option(
    "--compute",
    type=click.IntRange(1, 100),
    metavar="PERCENT",
    help="Limit of the GPU's time in percent, 1 to 100.",
)
@click.option("--burst", is_flag=True, help="Allow more than that while nobody else wants the GPU.")
@click.option(
    "--priority",
    type=click.Choice(["high", "normal", "low"]),
    help="Programs of higher priority go first.",
)
@click.option(
    "--allocation",
    type=click.Choice(ALLOCATIONS),
    help="How GPU memory is allocated: managed (unified memory), explicit (nvshare copies it), "
    "native (as the program asks; never moved), or auto (the daemon chooses).",
)
@click.argument(
    "command",
    nargs=-1,
    required=True,
    type=click.UNPROCESSED,
    shell_complete=completing.commands,
    metavar="COMMAND…",
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
    command: tuple[str, ...],
) -> None:
    """Run a command that shares its GPU with others.

    Options come before the command: what follows its name is its own. A daemon is started if there
    is none. The exit code and all signals are the command's own. All processes of the command share
    its limits.

    nvshare run --memory 4Gi python train.py --epochs 3
    """
    if memory == 0:
        ctx.fail("--memory 0 would leave nothing to allocate.")
    check_limits(os.environ)
    path = library()
    check_driver()
    chosen = choose_gpus(gpus) if gpus is not None or memory is not None else []
    warn_of_large_limit(memory, chosen)
    folder = find_or_start(os.environ, _announce, is_paced=True)
    wishes = Wishes(
        gpus=None if gpus is None else ",".join(gpu.uuid for gpu in chosen),
        memory_bytes=memory,
        compute_percent=compute,
        burst=burst,
        priority=priority,
        allocation=allocation,
    )
    variables = program_environment(wishes, folder, path, os.environ)
    become(list(command), {**os.environ, **variables, **name_owner(folder)})


def _announce(what: str) -> None:
    click.echo(f"nvshare: {what}", err=True)


def become(command: list[str], variables: dict[str, str]) -> None:
    """Replace this process: nothing stays between the command and whoever started it."""
    try:
        os.execvpe(command[0], command, variables)  # noqa: S606 (running it is the point)
    except OSError as error:
        raise CannotStartError(command[0], error) from error


def check_limits(environ: Mapping[str, str]) -> None:
    """Refuse limits in the environment that the library would not understand."""
    checks: dict[str, Callable[[str], str | None]] = {
        environment.GPU_MEMORY_LIMIT: _wrong_with_memory,
        environment.GPU_CORE_LIMIT: _wrong_with_percent,
        environment.GPU_PRIORITY: _wrong_with_priority,
    }
    for name, find_fault in checks.items():
        if (value := environ.get(name)) and (fault := find_fault(value)):
            raise BadInputError(
                f'{name} is "{value}", which is no limit: {fault}',
                why="the command would get no access to the GPU, rather than run without a limit",
                do=f"correct it, or unset it; docs/environment.md says what {name} can be",
            )


def _wrong_with_memory(text: str) -> str | None:
    try:
        return None if parse_quantity(text) else "it would leave nothing to allocate"
    except BadInputError as error:
        return error.in_a_line


def _wrong_with_percent(text: str) -> str | None:
    is_good = text.isascii() and text.isdecimal() and 1 <= int(text) <= 100
    return None if is_good else "it is not a number from 1 to 100"


def _wrong_with_priority(text: str) -> str | None:
    return None if text in ("high", "normal", "low") else "it is not high, normal or low"


def check_driver() -> None:
    """Say so if there is no CUDA driver, before a program fails in a worse way."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise NvshareError(
            "there is no CUDA driver on this machine",
            why=str(error),
            do="install the NVIDIA driver; or try nvshare on emulated GPUs, with "
            "`nvshare emulate --gpus 2xt4 -- nvshare run COMMAND`",
        ) from error
