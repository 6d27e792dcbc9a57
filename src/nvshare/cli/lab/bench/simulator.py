"""``nvshare bench simulator``: how long the most frequent simulations take."""

import time
from collections.abc import Iterator

import click

from nvshare.cli.lab.bench.group import Line, registered, show
from nvshare.lab.sim.catalog import load_known
from nvshare.lab.sim.engine import Outcome, simulate

_MEASURED = ("T1", "T2a", "T2s", "T3", "T4", "T5", "T6")
_CASES = {"T1 to T6": _MEASURED, "cluster-day": ("cluster-day",)}


@registered("simulator")
def measure_all() -> Iterator[Line]:
    """Yield a line for the measured scenarios together, and one for a day of a cluster."""
    for what in _CASES:
        yield measure(what)


def measure(what: str) -> Line:
    """Simulate the scenarios of a case, and return how long that took."""
    scenarios = [load_known(name) for name in _CASES[what]]
    began = time.perf_counter()
    outcomes = [simulate(scenario) for scenario in scenarios]
    return {"what": what, "seconds": round(time.perf_counter() - began, 2), **_sums(outcomes)}


def _sums(outcomes: list[Outcome]) -> Line:
    return {
        "simulated_s": round(sum(outcome.ended for outcome in outcomes)),
        "gpus": sum(len(outcome.sites) for outcome in outcomes),
        "programs": sum(len(outcome.records) for outcome in outcomes),
        "events": sum(site.events for outcome in outcomes for site in outcome.sites),
    }


@click.command()
@click.option("--short", is_flag=True, help="Leave out the day of a cluster, which takes minutes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def simulator(short: bool, as_json: bool) -> None:
    """Measure how long simulations take."""
    cases = ["T1 to T6"] if short else list(_CASES)
    show("simulator", lambda: map(measure, cases), as_json)
