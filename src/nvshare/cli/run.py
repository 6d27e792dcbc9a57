"""``nvshare run COMMAND``: put a program under the daemon, and become it."""

import ctypes
import os
from collections.abc import Mapping
from typing import Any

import click

from nvshare.cli import completing
from nvshare.cli.gpus import choose_gpus, warn_of_large_limit
from nvshare.cli.limit_options import check_amounts, given, options_of_run
from nvshare.errors import BadInputError, NvshareError
from nvshare.launch.child import CannotStartError
from nvshare.launch.preload import ALLOCATIONS, Wishes, library, program_environment
from nvshare.launch.start import find_or_start
from nvshare.launch.trust import name_owner
from nvshare.limits.table import LIMITS


@click.command(context_settings={"allow_interspersed_args": False})
@click.option(
    "--gpu",
    "gpus",
    metavar="LIST",
    shell_complete=completing.gpus,
    help="GPUs the program sees: indexes or UUIDs, separated by commas.",
)
@options_of_run
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
    /,
    gpus: str | None,
    allocation: str | None,
    command: tuple[str, ...],
    **limits: Any,
) -> None:
    """Run a command that shares its GPU with others.

    Options come before the command: options after its name belong to the command. A
    daemon is started if there is none. The exit code and all signals are the command's own. All
    processes of the command share its limits.

    nvshare run --memory 4Gi python train.py --epochs 3
    """
    check_amounts(limits, ctx)
    check_limits(os.environ)
    path = library()
    check_driver()
    memory = limits["memory_limit"]
    chosen = choose_gpus(gpus) if gpus is not None or memory is not None else []
    warn_of_large_limit(memory, chosen)
    folder = find_or_start(os.environ, _announce, is_paced=True)
    wishes = Wishes(
        gpus=None if gpus is None else ",".join(gpu.uuid for gpu in chosen),
        allocation=allocation,
        **given(limits),
    )
    variables = program_environment(wishes, folder, path, os.environ)
    become(list(command), {**os.environ, **variables, **name_owner(folder)})


def _announce(what: str) -> None:
    click.echo(f"nvshare: {what}", err=True)


def become(command: list[str], variables: dict[str, str]) -> None:
    """Replace this process: nothing stays between the command and its parent."""
    try:
        os.execvpe(command[0], command, variables)  # noqa: S606 (running it is the point)
    except OSError as error:
        raise CannotStartError(command[0], error) from error


def check_limits(environ: Mapping[str, str]) -> None:
    """Refuse limits in the environment that the interposer would not understand."""
    for limit in LIMITS:
        name = limit.variable
        if (value := environ.get(name)) and (fault := limit.wrong_with(value)):
            raise BadInputError(
                f'{name} is "{value}", which is not a valid limit: {fault}',
                why="the command would be refused the GPU rather than run without a limit",
                do=f"correct it, or unset it; docs/environment.md lists the values of {name}",
            )


def check_driver() -> None:
    """Report a missing CUDA driver before the program fails with a less helpful message."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise NvshareError(
            "there is no CUDA driver on this machine",
            why=str(error),
            do="install the NVIDIA driver; or try nvshare on emulated GPUs, with "
            "`nvshare emulate --gpus 2xt4 -- nvshare run COMMAND`",
        ) from error
