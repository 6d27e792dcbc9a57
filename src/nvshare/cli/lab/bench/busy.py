"""``nvshare bench busy``: what sharing costs on a machine whose processors are busy.

Data loaders keep every core of a GPU node busy, so a program wakes late to launch its next kernel.
Here, processes that only spin stand for the data loaders. A program computes without a pause, alone
or beside another one, without nvshare and under it; the emulated GPU reports the part of the time
for which it worked. Unlike in other benchmarks, the programs have no real-time priority.
"""

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack

import click

from nvshare.cli.lab.bench.group import Line, registered, show
from nvshare.cli.lab.trial.actor import Actor
from nvshare.cli.lab.trial.realtime import ORDINARY
from nvshare.cli.lab.trial.stage import Stage, open_stage
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.report import read_report
from nvshare.lab.emulator.workload import installed_program
from nvshare.settings import DeviceSettings

MODEL = "t4"
SPINNING = (0, 4, 16)
# How many programs there are.
CASES = {"alone": 1, "two sharing": 2}
# The kernels of pytorch-add-small on a T4.
KERNEL_S = 0.00965
_MEMORY = 2992 << 20
# Until the daemon knows that the programs compute all the time; then the measurement.
_WARM_UP_S = 4.0
_SECONDS = 15.0
# The percentile of the times, from the daemon's journal, that turns take to end.
_PERCENTILE = 0.99


@registered("busy")
def measure_all() -> Iterator[Line]:
    """Yield a line for each case and number of spinning processes."""
    for case, count in CASES.items():
        quiet: float | None = None
        for spinning in SPINNING:
            line = measure(case, count, spinning)
            quiet = quiet or line["managed"]
            beyond = (quiet - line["managed"]) / quiet
            yield {**line, "loss_against_quiet": round(beyond, 4)}


def measure(case: str, count: int, spinning: int, seconds: float = _SECONDS) -> Line:
    """Return the part of the time for which a GPU works, without nvshare and under it."""
    with _spinning(spinning):
        bare, _ = _worked(count, None, seconds)
        managed, late = _worked(count, DeviceSettings(), seconds)
    return {
        "case": case,
        "spinning": spinning,
        "speed": 1.0,
        "kernel_seconds": KERNEL_S,
        "seconds": seconds,
        "bare": round(bare, 4),
        "managed": round(managed, 4),
        "loss": round((bare - managed) / bare, 4),
        "turn_end_p99_s": late,
    }


@contextlib.contextmanager
def _spinning(count: int) -> Iterator[None]:
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for one in spinners:
            one.kill()
            one.wait()


def _worked(
    count: int, settings: DeviceSettings | None, seconds: float
) -> tuple[float, float | None]:
    """Return the part of the time, and how long turns take to end, if there are any."""
    given = None if settings is None else [settings]
    with ExitStack() as stack:
        stage = stack.enter_context(open_stage(parse_gpus(MODEL), 1.0, given, rank=ORDINARY))
        actors = [_start(stage, stack) for _ in range(count)]
        time.sleep(_WARM_UP_S)
        before = _computed(stage, actors)
        began = time.monotonic()
        time.sleep(seconds)
        worked = (_computed(stage, actors) - before) / 1e9 / (time.monotonic() - began)
        journal = stage.daemon.journal() if stage.daemon else ""
    return worked, turn_end_seconds(journal)


def _start(stage: Stage, stack: ExitStack) -> Actor:
    program = str(installed_program("workloads", "driver-kernels"))
    options = ["--memory", str(_MEMORY), "--kernel", str(KERNEL_S)]
    actor = Actor([program, "--held", *options], stage.environ)
    stack.callback(actor.stop)
    actor.wait_until_ready()
    actor.begin(0, time.monotonic())
    return actor


def _computed(stage: Stage, actors: list[Actor]) -> int:
    report = read_report(stage.node.folder)
    processes = [report.process(actor.pid) for actor in actors]
    return sum(process.gpus[0].compute_ns for process in processes if process)


def turn_end_seconds(journal: str) -> float | None:
    """Return how long most programs took to give way after an urgent revoke."""
    told: dict[int, float] = {}
    took: list[float] = []
    for line in journal.splitlines():
        entry = json.loads(line)
        event = entry.get("event", {})
        if event.get("type") == "Released" and event["client"] in told:
            took.append(event["now"] - told.pop(event["client"]))
        for effect in entry.get("effects", ()):
            if effect["type"] == "Revoke" and effect["urgency"] == "now":
                told[effect["client"]] = event["now"]
    if not took:
        return None
    return round(sorted(took)[int(_PERCENTILE * len(took))], 4)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def busy(as_json: bool) -> None:
    """Measure what sharing costs on a machine whose processors are busy."""
    show("busy", measure_all, as_json)
