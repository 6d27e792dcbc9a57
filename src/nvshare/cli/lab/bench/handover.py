"""``nvshare bench handover``: how long a GPU is idle when a turn is handed over.

Programs launch kernels without a pause in serial mode with short turns. The interposer of the
holder logs when it gives up its turn (in its debug log); the next program notes when its first
launch has returned. The emulated driver's model is off, so that kernels take no time.
"""

import itertools
import os
import re
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from nvshare.cli.control import Daemon
from nvshare.cli.lab.bench.group import Line, registered, show
from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node
from nvshare.lab.emulator.workload import installed_program
from nvshare.launch.place import control_socket
from nvshare.launch.preload import Wishes, library, program_environment, without_preload
from nvshare.launch.start import find_or_start
from nvshare.wire import environment

_TURN_S = 0.01
_SECONDS = 6.0
# A launch takes less than a microsecond unless it waits for its turn.
_WAIT_US = 1000.0
_ENDS = re.compile(rb"GPU \d+: turn \d+ ended at (\d+) ns")


@registered("handover")
def measure_all() -> Iterator[Line]:
    """Yield a line for two programs and one for fifty."""
    yield from measure(2)
    yield from measure(50)


def measure(clients: int) -> Iterator[Line]:
    """Let this many programs take turns, and yield how long the hand-overs took."""
    with (
        transient_node(node_root(), Settings(), parse_gpus("2xh100-80g")) as node,
        tempfile.TemporaryDirectory(prefix="nvshare-bench-") as scratch,
    ):
        base = without_preload(os.environ)
        base |= {**node.environment(library_folder(), base), environment.EMULATOR_MODEL: "off"}
        log = Path(scratch) / "interposer.log"
        base |= {environment.LOG: "debug", environment.LOG_FILE: str(log)}
        folder = find_or_start(base)
        control = Daemon(control_socket({**base, environment.SOCKET_DIR: str(folder)}))
        control.change_devices("all", {"mode": "serial", "turn_seconds": _TURN_S})
        began = _take_turns(clients, {**base, **_managed(folder, base)})
        microseconds = _pair(_ends(log.read_bytes()), began)
    yield {
        "clients": clients,
        "p50_us": round(statistics.median(microseconds), 1),
        "p99_us": round(statistics.quantiles(microseconds, n=100)[98], 1),
        "handovers": len(microseconds),
        "turn_s": _TURN_S,
    }


def _managed(folder: Path, base: Mapping[str, str]) -> dict[str, str]:
    return program_environment(Wishes(), folder, library(), base)


def _take_turns(clients: int, environ: Mapping[str, str]) -> list[int]:
    """Return the instants at which launches returned after a wait, in order."""
    program = str(installed_program("bench", "turn-taker"))
    started = [
        subprocess.Popen(
            [program, str(_SECONDS), str(_WAIT_US)], env=dict(environ), stdout=subprocess.PIPE
        )
        for _ in range(clients)
    ]
    outputs = [process.communicate()[0] for process in started]
    return sorted(int(line) for output in outputs for line in output.split())


def _ends(log: bytes) -> list[int]:
    """Return the instants at which turns ended, in order."""
    return sorted(int(nanoseconds) for nanoseconds in _ENDS.findall(log))


def _pair(ends: list[int], began: list[int]) -> list[float]:
    """Return the time from each end of a turn to the first kernel after it, in microseconds.

    An end without a kernel before the next end belongs to a program that had nothing to run.
    """
    gaps = []
    instants = sorted([(at, False) for at in ends] + [(at, True) for at in began])
    for (end, is_kernel), (first, follows) in itertools.pairwise(instants):
        if follows and not is_kernel:
            gaps.append((first - end) / 1e3)
    return gaps


@click.command()
@click.option("--clients", default=2, show_default=True, type=click.IntRange(2, 500))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def handover(clients: int, as_json: bool) -> None:
    """Measure how long a GPU is idle at a hand-over."""
    show("handover", lambda: measure(clients), as_json)
