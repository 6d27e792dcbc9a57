"""The figures of one mix of `nvshare bench latency --mixes`, and of a set of them."""

from collections.abc import Sequence
from math import exp, log

from nvshare.cli.lab.bench.group import Line
from nvshare.cli.lab.bench.latency_cases import GB, Case
from nvshare.cli.lab.bench.latency_results import percentile
from nvshare.cli.lab.bench.latency_scenario import Asked, judge, measured
from nvshare.cli.lab.bench.latency_simulation import Simulated

# Fewer waits have no 95th percentile.
LEAST_BURSTS = 5
# Nobody notices a shorter wait, and a ratio of two such waits says nothing.
LEAST_WAIT_S = 0.05
# A part of a trainer's equal part that nearly all mixes should leave it, and one that all should.
FAIR, LEAST_FAIR = 0.95, 0.8


def line_of(case: Case, length: float, done: Simulated) -> Line:
    """Return the figures of a mix that was measured for this long after the warm-up."""
    result = judge(case, length, done.asked, done.computed)
    bursts = measured(case, length, done.asked)
    bounds = [served.wait for served in result.at_best]
    delays = [_delay(case, one, case.warm_up + length) for one in bursts]
    waits = {
        "wait_p50": (percentile(result.waits, 50), percentile(bounds, 50)),
        "wait_p95": (percentile(result.waits, 95), percentile(bounds, 95)),
        "delay_p95": (percentile(delays, 95), percentile(bounds, 95)),
    }
    enough = len(bursts) >= LEAST_BURSTS
    loss, floor = result.loss() or 0.0, min(1.0, result.floor() or 0.0)
    return {
        "mix": case.name,
        "settings": dict(case.settings),
        "notebooks": [
            {
                "gb": round(one.memory / GB, 2),
                "burst_s": round(one.seconds, 2),
                "think_s": [round(one.rest, 1), round(one.rest_most, 1)],
            }
            for one in case.askers
        ],
        "trainers_gb": [round(memory / GB, 2) for memory in case.trainers],
        **{f"{name}_s": _rounded(wait) for name, (wait, _) in waits.items()},
        **{f"bound_p{p}_s": _rounded(percentile(bounds, p)) for p in (50, 95)},
        **{
            f"{name}_to_bound": _ratio(wait, bound) if enough else None
            for name, (wait, bound) in waits.items()
        },
        "equal_part": round(equal_part(case, length, done.computed), 4),
        "others_loss": round(loss, 4),
        "loss_floor": round(floor, 4),
        "turn_changes": done.turn_changes,
        "bursts": len(bursts),
        "served": sum(one.ended is not None for one in bursts),
        "seconds": length,
    }


def equal_part(case: Case, length: float, computed: Sequence[float]) -> float:
    """Return what the worst-off trainer has computed; 1 is the time divided by all programs."""
    return min(computed) / length * (len(case.askers) + len(case.trainers))


def summary(which: str, lines: Sequence[Line]) -> Line:
    """Return the figures of a set of mixes."""
    parts = [float(line["equal_part"]) for line in lines]
    beyond = [line["others_loss"] - line["loss_floor"] for line in lines]
    ratios = ("wait_p50_to_bound", "wait_p95_to_bound", "delay_p95_to_bound")
    return {
        "set": which,
        "settings": lines[0]["settings"],
        "mixes": len(lines),
        "with_bursts": sum(line["bursts"] >= LEAST_BURSTS for line in lines),
        **{name: _geometric([line[name] for line in lines]) for name in ratios},
        "equal_part_least": min(parts),
        "equal_part_p5": percentile(parts, 5),
        f"mixes_from_{FAIR}": round(sum(part >= FAIR for part in parts) / len(parts), 4),
        f"mixes_from_{LEAST_FAIR}": round(
            sum(part >= LEAST_FAIR for part in parts) / len(parts), 4
        ),
        "others_loss": round(sum(line["others_loss"] for line in lines) / len(lines), 4),
        "beyond_floor_mean": round(sum(beyond) / len(beyond), 4),
        "beyond_floor_most": round(max(beyond), 4),
        "turn_changes": sum(line["turn_changes"] for line in lines),
        "bursts": sum(line["bursts"] for line in lines),
        "served": sum(line["served"] for line in lines),
        "seconds": lines[0]["seconds"],
    }


def _delay(case: Case, one: Asked, end: float) -> float:
    """Return how much later than at once a burst has ended: its wait, and its interruptions.

    Of a burst that has not ended: how much later it is by now at least.
    """
    work = case.askers[one.who].seconds
    if one.ended is not None:
        return one.ended - one.wanted - work
    wait = (end if one.began is None else one.began) - one.wanted
    return max(wait, end - one.wanted - work)


def _ratio(wait: float | None, bound: float | None) -> float:
    return round(max(LEAST_WAIT_S, wait or 0.0) / max(LEAST_WAIT_S, bound or 0.0), 3)


def _geometric(ratios: Sequence[float | None]) -> float | None:
    """Return the geometric mean: a mix at twice the bound and one at half of it are equal."""
    known = [ratio for ratio in ratios if ratio is not None]
    return round(exp(sum(map(log, known)) / len(known)), 3) if known else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
