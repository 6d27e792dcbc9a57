"""``nvshare bench restart``: what a restart of the daemon costs programs that do not fit together.

Programs of 12 GB, with a full launch queue and no synchronisation until their end, take turns on a
T4. The same is measured twice: undisturbed, and with a daemon that ends in the middle of it and is
followed by another one after a while. Emulated seconds, except for the gap: programs and daemons
wait for each other in real ones.
"""

import contextlib
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

import click

from nvshare.cli.lab.bench.group import Line, registered, show
from nvshare.cli.lab.trial.actor import Actor
from nvshare.cli.lab.trial.stage import Stage, open_stage
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.report import read_report
from nvshare.lab.emulator.workload import workload_command
from nvshare.launch.preload import Wishes
from nvshare.settings import DeviceSettings
from nvshare.wire import environment

MODEL = "t4"
SIGNALS = {"term": signal.SIGTERM, "kill": signal.SIGKILL}
KINDS = ("managed", "explicit")
# As in the run in which it was first seen that programs do not recover: 46 s of computing each.
ITERATIONS = 1200
AFTER_S = 35.0
_LOOK_S = 0.01
# Programs that take so many times as long as undisturbed, besides the gap, are given up.
_PATIENCE = 5.0


@dataclass(frozen=True)
class Case:
    """A restart: programs, seconds without a daemon, how that ended, and how memory moves."""

    programs: int = 2
    gap: float = 0.5
    by: str = "term"
    kind: str = "managed"
    iterations: int = ITERATIONS
    # Emulated seconds from the beginning to the end of the daemon.
    after: float = AFTER_S
    speed: float = 1.0
    # Real seconds for which programs without a turn wait for the next daemon; None: as usual.
    wait: float | None = None

    def line(self, undisturbed: "_Run", restarted: "_Run") -> Line:
        """Return the figures."""
        return {
            "programs": self.programs,
            "gap_seconds": self.gap,
            "signal": self.by,
            "allocation": self.kind,
            "iterations": self.iterations,
            "after": self.after,
            "speed": self.speed,
            "wait_seconds": self.wait,
            "undisturbed_seconds": round(undisturbed.seconds, 2),
            "restarted_seconds": round(restarted.seconds, 2),
            "ratio": round(restarted.seconds / undisturbed.seconds, 3),
            "lost_seconds": round(restarted.seconds - undisturbed.seconds, 2),
            "undisturbed_faults": undisturbed.faults,
            "restarted_faults": restarted.faults,
            "unended": restarted.unended,
        }


@dataclass(frozen=True)
class _Run:
    seconds: float
    faults: int
    # Programs that had not ended when they were given up.
    unended: int


@registered("restart")
def measure_all() -> Iterator[Line]:
    """Yield a line for two programs of either kind, in a quarter of the time."""
    for kind in KINDS:
        yield from measure([Case(kind=kind, speed=4.0)])


def measure(cases: Sequence[Case]) -> Iterator[Line]:
    """Yield a line for each case. Cases that differ in the restart alone share a first run."""
    undisturbed: dict[tuple[int, str, int, float], _Run] = {}
    for case in cases:
        same = case.programs, case.kind, case.iterations, case.speed
        if same not in undisturbed:
            undisturbed[same] = _run(case)
        patience = case.gap * case.speed + _PATIENCE * undisturbed[same].seconds
        yield case.line(undisturbed[same], _run(case, patience))


def _run(case: Case, patience: float | None = None) -> _Run:
    """Let the programs compute; with a patience, in emulated seconds, the daemon restarts."""
    with contextlib.ExitStack() as stack:
        wishes = Wishes(allocation="explicit" if case.kind == "explicit" else "managed")
        stage = stack.enter_context(
            open_stage(parse_gpus(MODEL), case.speed, [DeviceSettings()], wishes=wishes)
        )
        actors = [_start(stage, case, stack) for _ in range(case.programs)]
        began = time.monotonic()
        for actor in actors:
            actor.begin(0, began)
        if patience is not None:
            time.sleep(max(0.0, began + case.after / case.speed - time.monotonic()))
            stage.end_daemon(SIGNALS[case.by])
            time.sleep(case.gap)
            stage.start_daemon()
        until = inf if patience is None else began + patience / case.speed
        while not all(actor.has_ended for actor in actors) and time.monotonic() < until:
            time.sleep(_LOOK_S)
        seconds = (time.monotonic() - began) * case.speed
        ended = [actor for actor in actors if actor.has_ended]
        for actor in ended:
            actor.ending()
        faults = read_report(stage.node.folder).gpus[0].faults
        return _Run(seconds, faults, len(actors) - len(ended))


def _start(stage: Stage, case: Case, stack: contextlib.ExitStack) -> Actor:
    command = workload_command("pytorch-add", "--held", "--iterations", str(case.iterations))
    waits = {} if case.wait is None else {environment.RESTART_WAIT: f"{case.wait:g}"}
    actor = Actor(command, {**stage.environ, **waits})
    stack.callback(actor.stop)
    actor.wait_until_ready()
    return actor


@click.command()
@click.option(
    "--programs",
    multiple=True,
    default=(2,),
    show_default=True,
    type=click.IntRange(1, 64),
    help="How many programs; may be repeated, as the next three options.",
)
@click.option(
    "--gap",
    multiple=True,
    default=(0.5,),
    show_default=True,
    type=click.FloatRange(0, 3600),
    help="Real seconds without a daemon.",
)
@click.option("--signal", "by", multiple=True, default=("term",), type=click.Choice([*SIGNALS]))
@click.option("--allocation", multiple=True, default=("managed",), type=click.Choice(KINDS))
@click.option("--iterations", default=ITERATIONS, show_default=True, type=click.IntRange(1))
@click.option(
    "--after",
    default=AFTER_S,
    show_default=True,
    type=click.FloatRange(0),
    help="Emulated seconds from the beginning to the end of the daemon.",
)
@click.option(
    "--speed",
    type=click.FloatRange(0.1, 100),
    default=1.0,
    show_default=True,
    help="Emulated seconds per real second.",
)
@click.option(
    "--wait",
    type=click.FloatRange(0, 3600),
    help="Real seconds for which programs without a turn wait for the next daemon. After that they "
    "run beside the one that has the turn, and the next daemon has to part them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def restart(
    programs: tuple[int, ...],
    gap: tuple[float, ...],
    by: tuple[str, ...],
    allocation: tuple[str, ...],
    iterations: int,
    after: float,
    speed: float,
    wait: float | None,
    as_json: bool,
) -> None:
    """Measure what a restart of the daemon costs programs that do not fit together."""
    cases = [
        Case(number, pause, how, kind, iterations, after, speed, wait)
        for kind in allocation
        for number in programs
        for pause in gap
        for how in by
    ]
    show("restart", lambda: measure(cases), as_json)
