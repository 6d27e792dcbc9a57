"""``nvshare workload``: run one of the workloads that were measured on a real T4."""

import os

import click

from nvshare.lab.emulator.workload import NAMES, workload_command


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("name", type=click.Choice(NAMES))
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def workload(name: str, options: tuple[str, ...]) -> None:
    """Run a program that does to a GPU what the PyTorch program of that name does.

    OPTIONS are the program's own: --iterations N, --side N, --sleep S, --late S, --seed N,
    --startup S, --device N, --managed. It prints one line of JSON at its end.
    """
    command = workload_command(name, *options)
    os.execv(command[0], command)  # noqa: S606
