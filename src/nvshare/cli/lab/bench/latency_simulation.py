"""Latency cases, in the simulator."""

from typing import NamedTuple

from nvshare.cli.lab.bench.latency_cases import Case
from nvshare.cli.lab.bench.latency_results import Waited, joined
from nvshare.cli.lab.bench.latency_scenario import Asked, judge, scenario_of
from nvshare.lab.sim.engine import Engine


class Simulated(NamedTuple):
    """What happened: all requests, seconds of each trainer's work after the warm-up, and turns."""

    asked: list[Asked]
    computed: tuple[float, ...]
    # From the beginning on.
    turn_changes: int


def simulate_nodes(case: Case, seconds: float | None = None) -> Waited:
    """Return how long the askers of all nodes wait, as on the emulator."""
    return joined([simulate_case(case, seconds, seed) for seed in range(case.nodes)])


def simulate_case(case: Case, seconds: float | None = None, seed: int = 0) -> Waited:
    """Return how long the askers of one node wait after the warm-up."""
    length = case.seconds if seconds is None else seconds
    done = simulated(case, length, seed)
    return judge(case, length, done.asked, done.computed)


def simulated(case: Case, length: float, seed: int) -> Simulated:
    """Simulate a case until this long after the warm-up."""
    engine = Engine(scenario_of(case, case.warm_up + length), seed=seed, bursts=True)
    (site,) = engine.sites
    before: dict[int, float] = {}
    engine.at(case.warm_up, lambda: before.update(engine.computed(site)))
    records = engine.run().records
    count = len(case.askers)
    asked = [
        Asked(burst.wanted, who, burst.began, burst.ended)
        for who, record in enumerate(records[:count])
        for burst in record.bursts or ()
    ]
    trainers = range(count, len(records))
    computed = tuple(records[key].computed - before.get(key, 0.0) for key in trainers)
    return Simulated(asked, computed, site.switchboard.core.view(site.device).turn_changes)
