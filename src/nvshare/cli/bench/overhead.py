"""``nvshare bench overhead``: what the interposer adds to a call, in time and in instructions.

The emulated driver has its model switched off and answers at once, so that little but the
interposer is left to measure. Bare, forwarded (preloaded, but switched off) and managed (under a
daemon, gate open) runs take turns, and the quickest of each counts: the machine is seldom quiet.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from nvshare.cli.bench.group import Line, registered, show
from nvshare.emulator.conf import Settings
from nvshare.emulator.gpus import parse_gpus
from nvshare.emulator.libraries import library_folder
from nvshare.emulator.root import node_root
from nvshare.emulator.transient import transient_node
from nvshare.emulator.workload import installed_program
from nvshare.launch.preload import Wishes, library, program_environment, without_preload
from nvshare.launch.start import find_or_start
from nvshare.wire import environment

_WHAT = ("launch", "copy", "info", "alloc", "alloc-10000")
_TURNS = 9
_CALLS = 20_000
_ROUNDS = 10
# Instructions are counted between a short and a long run, so that start and end cancel out.
_FEW, _MANY = 2_000, 12_000

Environments = dict[str, dict[str, str]]


@registered("overhead")
def measure() -> Iterator[Line]:
    """Yield one line per call."""
    program = installed_program("bench", "call-cost")
    with transient_node(node_root(), Settings(), parse_gpus("tiny")) as node:
        bare = without_preload(os.environ)
        bare |= {**node.environment(library_folder(), bare), environment.EMULATOR_MODEL: "off"}
        folder = find_or_start(bare)
        environments = _environments(bare, folder)
        for what in _WHAT:
            times = _times(program, what, environments)
            yield {
                "what": what,
                **{f"{name}_ns": round(value, 1) for name, value in times.items()},
                **_instructions(program, what, environments),
            }


def _environments(bare: dict[str, str], folder: Path) -> Environments:
    managed = {**bare, **program_environment(Wishes(), folder, library(), bare)}
    return {
        "bare": bare,
        "forwarded": {**managed, environment.DISABLE: "1"},
        "managed": managed,
    }


def _times(program: Path, what: str, environments: Environments) -> dict[str, float]:
    best: dict[str, float] = {}
    for _ in range(_TURNS):
        for name, variables in environments.items():
            nanoseconds = _run(program, what, variables)
            best[name] = min(best.get(name, nanoseconds), nanoseconds)
    return best


def _run(program: Path, what: str, variables: Mapping[str, str]) -> float:
    command = [str(program), what, str(_CALLS), str(_ROUNDS)]
    done = subprocess.run(command, env=variables, check=True, stdout=subprocess.PIPE)
    return float(json.loads(done.stdout)["ns"])


def _instructions(program: Path, what: str, environments: Environments) -> Line:
    """Count by callgrind, where it is installed."""
    if shutil.which("valgrind") is None:
        missing = "not counted: valgrind is not installed"
        return {"bare_instructions": None, "managed_instructions": None, "instructions": missing}
    counts: Line = {}
    for name in ("bare", "managed"):
        few, many = (_count(program, what, environments[name], calls) for calls in (_FEW, _MANY))
        counts[f"{name}_instructions"] = round((many - few) / (_MANY - _FEW), 1)
    return counts


def _count(program: Path, what: str, variables: Mapping[str, str], calls: int) -> int:
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run(
        [*valgrind, str(program), what, str(calls), "1"],
        env=variables,
        check=True,
        capture_output=True,
        text=True,
    )
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if collected is None:
        raise click.ClickException(f"callgrind has counted nothing:\n{done.stderr}")
    return int(collected[1])


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def overhead(as_json: bool) -> None:
    """Measure what nvshare adds to a call."""
    show("overhead", measure, as_json)
