"""The result of a latency case, beside what would be possible."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil

from nvshare.cli.lab.bench.first_come import Served
from nvshare.cli.lab.bench.group import Line
from nvshare.cli.lab.bench.latency_cases import Case


@dataclass(frozen=True)
class Waited:
    """How long the askers waited, and how much the trainers computed."""

    case: Case
    seconds: float
    waits: tuple[float, ...]
    # The same requests, in the order in which they came, on a GPU that loses no time.
    at_best: tuple[Served, ...]
    # The GPU's work for the requests themselves.
    asked_seconds: float
    # Seconds of work of each trainer.
    computed: tuple[float, ...] = ()

    def line(self) -> Line:
        """Return the result as it is printed."""
        moves = [served.move for served in self.at_best]
        bounds = [served.wait for served in self.at_best]
        waits = {percent: percentile(self.waits, percent) for percent in (50, 99)}
        at_best = {percent: percentile(bounds, percent) for percent in (50, 99)}
        return {
            "case": self.case.name,
            "priority": self.case.priority,
            "settings": dict(self.case.settings),
            **{f"wait_p{percent}_s": _rounded(wait) for percent, wait in waits.items()},
            **{f"bound_p{percent}_s": _rounded(bound) for percent, bound in at_best.items()},
            **{
                f"p{percent}_to_bound": _ratio(waits[percent], at_best[percent])
                for percent in waits
            },
            "mean_to_bound": _ratio(_mean(self.waits), _mean(bounds)),
            "move_s": round(sum(moves) / len(moves), 4) if moves else None,
            "others_loss": _rounded(self.loss()),
            "loss_floor": _rounded(self.floor()),
            "bursts": len(self.waits),
            "seconds": round(self.seconds, 1),
        }

    def loss(self) -> float | None:
        """Return the part of the time that trainers lost, compared with one that runs alone."""
        return 1 - sum(self.computed) / self.seconds if self.computed else None

    def floor(self) -> float | None:
        """Return the loss if all requests were served at once: their work, and moves of memory."""
        if not self.computed:
            return None
        moving = sum(served.move + served.back for served in self.at_best)
        return (self.asked_seconds + moving) / self.seconds


def joined(results: Sequence[Waited]) -> Waited:
    """Return the results of several nodes with the same case as one, of their times together."""
    return Waited(
        results[0].case,
        sum(one.seconds for one in results),
        tuple(chain.from_iterable(one.waits for one in results)),
        tuple(chain.from_iterable(one.at_best for one in results)),
        sum(one.asked_seconds for one in results),
        tuple(chain.from_iterable(one.computed for one in results)),
    )


def percentile(values: Sequence[float], percent: float) -> float | None:
    """Return the least value that this percentage of the values does not exceed."""
    if not values:
        return None
    return sorted(values)[max(0, ceil(len(values) * percent / 100) - 1)]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _ratio(wait: float | None, bound: float | None) -> float | None:
    """Return the wait as a multiple of the bound; None if the bound is no wait."""
    return None if wait is None or not bound else round(wait / bound, 2)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
