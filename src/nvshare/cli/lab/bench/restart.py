"""``nvshare bench restart``: what a restart of the daemon costs programs that do not fit together.

Programs of 12 GB, with a full launch queue and no synchronisation until their end, take turns on a
T4; or programs of several ranks, on as many T4s. The same is measured twice: undisturbed, and with
a daemon that ends in the middle of it and is followed by another one after a while. Emulated
seconds, except for the gap: programs and daemons wait for each other in real ones.
"""

from collections.abc import Iterator, Sequence

import click

from nvshare.cli.lab.bench.group import Line, registered, show
from nvshare.cli.lab.bench.restart_runs import (
    AFTER_S,
    ITERATIONS,
    KINDS,
    SIGNALS,
    Case,
    Run,
    run,
)

# Programs that take so many times as long as undisturbed, besides the gap, are given up.
_PATIENCE = 5.0


def line_of(case: Case, undisturbed: Run, restarted: Run) -> Line:
    """Return the figures."""
    return {
        "programs": case.programs,
        "ranks": case.ranks,
        "gap_seconds": case.gap,
        "signal": case.by,
        "allocation": case.kind,
        "iterations": case.iterations,
        "after": case.after,
        "speed": case.speed,
        "wait_seconds": case.wait,
        "undisturbed_seconds": round(undisturbed.seconds, 2),
        "restarted_seconds": round(restarted.seconds, 2),
        "ratio": round(restarted.seconds / undisturbed.seconds, 3),
        "lost_seconds": round(restarted.seconds - undisturbed.seconds, 2),
        "undisturbed_faults": undisturbed.faults,
        "restarted_faults": restarted.faults,
        "unended": restarted.unended,
    }


@registered("restart")
def measure_all() -> Iterator[Line]:
    """Yield a line for two programs of either kind, in a quarter of the time."""
    for kind in KINDS:
        yield from measure([Case(kind=kind, speed=4.0)])


def measure(cases: Sequence[Case]) -> Iterator[Line]:
    """Yield a line for each case. Cases that differ in the restart alone share a first run."""
    undisturbed: dict[tuple[object, ...], Run] = {}
    for case in cases:
        known = undisturbed.get(case.undisturbed) or run(case)
        undisturbed[case.undisturbed] = known
        patience = case.gap * case.speed + _PATIENCE * known.seconds
        yield line_of(case, known, run(case, patience))


@click.command()
@click.option(
    "--programs",
    multiple=True,
    default=(2,),
    show_default=True,
    type=click.IntRange(1, 64),
    help="How many programs; may be repeated, as --gap, --signal and --allocation.",
)
@click.option(
    "--ranks",
    default=1,
    show_default=True,
    type=click.IntRange(1, 8),
    help="Processes of each program, one on each of as many GPUs. With several, they meet after "
    "every kernel.",
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
    ranks: int,
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
        Case(number, pause, how, kind, iterations, after, speed, wait, ranks)
        for kind in allocation
        for number in programs
        for pause in gap
        for how in by
    ]
    show("restart", lambda: measure(cases), as_json)
