"""``nvshare bench shares``: whether programs get the share of a GPU that they are to have.

What they get is what the GPU counts, not what they are billed.
"""

from collections.abc import Iterator, Sequence

import click

from nvshare.cli.bench import share_runs
from nvshare.cli.bench.group import Line, registered, show
from nvshare.cli.bench.share_cases import CASES, Case
from nvshare.cli.bench.share_runs import Got

SECONDS = 30.0


@registered("shares")
def measure_all() -> Iterator[Line]:
    """Yield a line for every case that takes no longer than others."""
    yield from measure([case for case in CASES if not case.is_long], SECONDS)


def measure(cases: Sequence[Case], seconds: float) -> Iterator[Line]:
    """Yield a line for every case."""
    for batch in share_runs.batches(cases):
        for got in share_runs.run(batch, seconds):
            yield _line(got)


def _line(got: Got) -> Line:
    case, clients = got.case, got.case.clients
    expected = case.expected(got.percents)
    errors = [abs(a - b) for a, b in zip(got.percents, expected, strict=True)]
    line: Line = {
        "case": case.name,
        "set": [client.percent for client in clients],
        "gpu_of": [client.gpu for client in clients],
        "got": [round(percent, 2) for percent in got.percents],
        "sum_error": round(_sum_error(got, expected), 2),
        "worst_error": round(max(errors), 2),
    }
    if case.ratio_tolerance is None:
        limits = {"tolerance": case.tolerance, "sum_tolerance": case.sum_tolerance}
        line["within"] = max(errors) <= case.tolerance and (
            case.sum_tolerance is None or _sum_error(got, expected) <= case.sum_tolerance
        )
    else:
        line["ratio_error"] = round(_ratio_error(got, expected), 4)
        limits = {"ratio_tolerance": case.ratio_tolerance}
        line["within"] = _ratio_error(got, expected) <= case.ratio_tolerance
    return {**line, **limits, **_settings(got)}


def _sum_error(got: Got, expected: Sequence[float]) -> float:
    """Return how far the sum of a GPU is from what it should be, for the worst of them."""
    sums = [0.0] * got.case.gpus
    for client, have, want in zip(got.case.clients, got.percents, expected, strict=True):
        sums[client.gpu] += have - want
    return max(abs(one) for one in sums)


def _ratio_error(got: Got, expected: Sequence[float]) -> float:
    if not got.percents[1]:
        return 1.0
    return abs(got.percents[0] / got.percents[1] / (expected[0] / expected[1]) - 1)


def _settings(got: Got) -> Line:
    clients = got.case.clients
    return {
        "style": [client.style for client in clients],
        "kernel_s": [client.kernel for client in clients],
        "seconds": round(got.seconds, 2),
        "on": "emulator",
        "gpus": share_runs.MODEL,
        "speed": share_runs.SPEED,
    }


@click.command()
@click.option("--case", "names", multiple=True, metavar="NAME", help="Only this one, or these.")
@click.option(
    "--seconds",
    default=SECONDS,
    show_default=True,
    type=click.FloatRange(min=1),
    help="Measure for so long, and until cycles are whole.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def shares(names: tuple[str, ...], seconds: float, as_json: bool) -> None:
    """Measure what programs get of a GPU, beside what they are to get."""
    chosen = [case for case in CASES if case.name in names or not (names or case.is_long)]
    show("shares", lambda: measure(chosen, seconds), as_json)
