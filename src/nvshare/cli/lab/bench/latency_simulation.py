"""Latency cases, in the simulator."""

from nvshare.cli.lab.bench.latency_cases import Case
from nvshare.cli.lab.bench.latency_results import Waited
from nvshare.cli.lab.bench.latency_scenario import WARM_UP_S, Asked, judge, scenario_of
from nvshare.lab.sim.engine import simulate
from nvshare.lab.sim.record import Record


def simulate_case(case: Case, seconds: float | None = None, seed: int = 0) -> Waited:
    """Return how long the askers wait after the warm-up."""
    length = case.seconds if seconds is None else seconds
    before, after = (
        simulate(scenario_of(case, until), seed=seed, picture=True).records
        for until in (WARM_UP_S, WARM_UP_S + length)
    )
    count = len(case.askers)
    asked = (
        Asked(burst.wanted, who, burst.began)
        for who, record in enumerate(after[:count])
        for burst in record.bursts or ()
    )
    return judge(case, length, asked, _computed(before[count:], after[count:]))


def _computed(before: tuple[Record, ...], after: tuple[Record, ...]) -> tuple[float, ...]:
    return tuple(b.computed - a.computed for a, b in zip(before, after, strict=True))
