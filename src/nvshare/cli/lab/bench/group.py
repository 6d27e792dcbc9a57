"""The group of benchmarks, and how their results are printed."""

import json
import os
import platform
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from nvshare.cli.groups import ListedGroup

Line = dict[str, Any]
Bench = Callable[[], Iterator[Line]]

# What `nvshare bench all` runs, in this order.
_ALL: dict[str, Bench] = {}


def registered(name: str) -> Callable[[Bench], Bench]:
    """Make a benchmark part of `nvshare bench all`."""

    def register(function: Bench) -> Bench:
        _ALL[name] = function
        return function

    return register


@click.group(cls=ListedGroup)
def bench() -> None:
    """Measure, and print figures with the machine and the settings they hold for."""


@bench.command(name="all")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def every(as_json: bool) -> None:
    """Run every benchmark."""
    for name, function in _ALL.items():
        show(name, function, as_json)


def show(name: str, function: Bench, as_json: bool) -> None:
    """Run a benchmark and print its lines."""
    for line in function():
        if as_json:
            click.echo(json.dumps({"bench": name, **line, "machine": machine()}))
        else:
            click.echo(f"{name}: " + ", ".join(f"{key} {value}" for key, value in line.items()))


def machine() -> Line:
    """Describe this machine, as far as it matters to timings."""
    return {"cpu": _cpu(), "cores": os.cpu_count(), "kernel": platform.release()}


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
