"""``nvshare bench overhead``: what the interposer adds to a call, in time and in instructions.

For most calls the emulated driver's model is off and the driver answers at once, so that little
but the interposer is measured. The cost of large allocations, and of their first use, is mostly
the driver's: these are measured with the model on, so the figures are its assumptions.
Runs alternate: bare, forwarded (preloaded, but switched off), and under a daemon with an open gate
for each allocation kind. The quickest of each counts, because the machine is seldom quiet.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

import click

from nvshare.cli.lab.bench.callgrind import callgrind, read_calls, read_profile
from nvshare.cli.lab.bench.group import Line, registered, show
from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node
from nvshare.lab.emulator.workload import installed_program
from nvshare.launch.preload import Wishes, library, program_environment, without_preload
from nvshare.launch.start import find_or_start
from nvshare.wire import environment

_WHAT = ("launch", "copy", "info", "alloc", "alloc-10000")
_DRIVERS = ("large", "touch")
_TURNS = 9
_CALLS = 20_000
_DRIVERS_CALLS = 20
_ROUNDS = 10
# Instructions are counted between a short and a long run, so that start and end cancel out.
_FEW, _MANY = 2_000, 12_000
_COUNTED = ("bare", "managed", "explicit")
# For mapped memory the emulated driver's own work would count. For these runs, the interposer's own
# instructions are counted separately.
_OWN = ("managed", "explicit")

# Functions that serve telemetry: they note work that the interposer sees anyway, and report it to
# the daemon. The scheduler needs some of that, too, so this is an upper bound.
_TELEMETRY = frozenset(
    {
        *("usage_saw", "usage_measured", "usage_wait_begins", "usage_wait_ends", "usage_read"),
        *("session_usage_changes", "client_report_usage", "client_report_refusals"),
    }
)

Environments = dict[str, dict[str, str]]


@registered("overhead")
def measure_all() -> Iterator[Line]:
    """Yield one line per call, with times and instructions."""
    yield from measure()


def measure(*, with_instructions: bool = True) -> Iterator[Line]:
    """Yield one line per call."""
    program = installed_program("bench", "call-cost")
    with _environments(Settings(), "off") as environments:
        for what in _WHAT:
            yield {
                "what": what,
                **_times(program, what, _CALLS, environments),
                **(_instructions(program, what, environments) if with_instructions else {}),
            }
    with _environments(Settings(data="off"), "on") as environments:
        for what in _DRIVERS:
            yield {"what": what, **_times(program, what, _DRIVERS_CALLS, environments)}


@contextmanager
def _environments(settings: Settings, model: str) -> Iterator[Environments]:
    """Variables for each kind of run, on a node with a daemon."""
    with transient_node(node_root(), settings, parse_gpus("t4")) as node:
        bare = without_preload(os.environ)
        bare |= {**node.environment(library_folder(), bare), environment.EMULATOR_MODEL: model}
        folder = find_or_start(bare)
        ways = {
            kind: {**bare, **program_environment(Wishes(allocation=kind), folder, library(), bare)}
            for kind in ("managed", "explicit", "native")
        }
        yield {"bare": bare, "forwarded": {**ways["managed"], environment.DISABLE: "1"}, **ways}


def _times(program: Path, what: str, calls: int, environments: Environments) -> Line:
    best: dict[str, float] = {}
    for _ in range(_TURNS):
        for name, variables in environments.items():
            nanoseconds = _run(program, what, calls, variables)
            best[name] = min(best.get(name, nanoseconds), nanoseconds)
    return {f"{name}_ns": round(value, 1) for name, value in best.items()}


def _run(program: Path, what: str, calls: int, variables: Mapping[str, str]) -> float:
    command = [str(program), what, str(calls), str(_ROUNDS)]
    done = subprocess.run(command, env=variables, check=True, stdout=subprocess.PIPE)
    return float(json.loads(done.stdout)["ns"])


def _instructions(program: Path, what: str, environments: Environments) -> Line:
    """Count instructions with callgrind, where it is installed."""
    if shutil.which("valgrind") is None:
        missing = "not counted: valgrind is not installed"
        keys = (*(f"{name}_instructions" for name in _COUNTED), *(f"{name}_own" for name in _OWN))
        return {**dict.fromkeys(keys), "telemetry_percent": None, "instructions": missing}
    counts: Line = {}
    for name in _COUNTED:
        few, many = (_profile(program, what, environments[name], calls) for calls in (_FEW, _MANY))
        own = library().name
        more = (read_profile(many, own) - read_profile(few, own)).per(_MANY - _FEW)
        counts[f"{name}_instructions"] = more.all
        if name in _OWN:
            counts[f"{name}_own"] = more.own
        if name == "managed":
            seen = read_calls(many, _TELEMETRY) - read_calls(few, _TELEMETRY)
            counts["telemetry_percent"] = telemetry_percent(seen, more.all)
    return counts


def telemetry_percent(instructions: int, per_call: float) -> float:
    """Return the percentage that telemetry takes of a program that only makes such calls."""
    return round(100 * instructions / (_MANY - _FEW) / per_call, 3)


def _profile(program: Path, what: str, variables: Mapping[str, str], calls: int) -> str:
    with NamedTemporaryFile() as file:
        subprocess.run(
            [*callgrind(Path(file.name)), str(program), what, str(calls), "1"],
            env=variables,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return Path(file.name).read_text(encoding="utf-8")


@click.command()
@click.option(
    "--instructions/--no-instructions",
    "with_instructions",
    default=True,
    help="Whether valgrind also counts instructions. That takes longer than all the rest.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def overhead(with_instructions: bool, as_json: bool) -> None:
    """Measure what nvshare adds to a call."""
    show("overhead", lambda: measure(with_instructions=with_instructions), as_json)
