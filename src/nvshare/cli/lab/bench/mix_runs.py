"""Runs mixes in the simulator, a process for each at a time; the results do not depend on that."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from nvshare.cli.lab.bench.group import Line
from nvshare.cli.lab.bench.latency_cases import Case
from nvshare.cli.lab.bench.latency_simulation import simulated
from nvshare.cli.lab.bench.mix_results import line_of, summary
from nvshare.cli.lab.bench.mix_table import within


def run(which: str, cases: Sequence[Case], seconds: float | None, jobs: int) -> Iterator[Line]:
    """Yield a line for each mix of a set, in order, and at last the summary."""
    lines = []
    for line in _lines(cases, seconds, jobs):
        lines.append({"set": which, **line})
        yield lines[-1]
    if lines:
        found = summary(which, lines)
        yield {**found, "within": within(found)}


def _lines(cases: Sequence[Case], seconds: float | None, jobs: int) -> Iterator[Line]:
    if jobs == 1:
        yield from map(partial(_line, seconds), cases)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(partial(_line, seconds), cases)


def _line(seconds: float | None, case: Case) -> Line:
    length = case.seconds if seconds is None else seconds
    try:
        return line_of(case, length, simulated(case, length, seed=0))
    except Exception as error:
        raise RuntimeError(f"the mix {case.name} failed: {error}") from error
