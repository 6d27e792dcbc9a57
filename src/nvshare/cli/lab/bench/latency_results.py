"""What came of a case of latency, beside what would be possible."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from nvshare.cli.lab.bench.first_come import Served
from nvshare.cli.lab.bench.group import Line
from nvshare.cli.lab.bench.latency_cases import Case


@dataclass(frozen=True)
class Waited:
    """How long those who asked have waited, and what those who compute all the time have done."""

    case: Case
    seconds: float
    waits: tuple[float, ...]
    # The same requests, in the order in which they came, on a GPU that loses no time.
    at_best: tuple[Served, ...]
    # What the requests themselves have the GPU do.
    asked_seconds: float
    # Seconds of work, for each that computes all the time.
    computed: tuple[float, ...] = ()

    def line(self) -> Line:
        """Return it as it is printed."""
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
            "move_s": round(sum(moves) / len(moves), 4) if moves else None,
            "others_loss": self._loss(),
            "loss_floor": self._floor(),
            "bursts": len(self.waits),
            "seconds": round(self.seconds, 1),
        }

    def _loss(self) -> float | None:
        """Return which part of the time others have lost, of what one of them has alone."""
        return round(1 - sum(self.computed) / self.seconds, 4) if self.computed else None

    def _floor(self) -> float | None:
        """Return what they lose if all are served at once: the work, and memory that moves."""
        if not self.computed:
            return None
        moving = sum(served.move + served.back for served in self.at_best)
        return round((self.asked_seconds + moving) / self.seconds, 4)


def percentile(values: Sequence[float], percent: float) -> float | None:
    """Return the least of the values that so many percent of them do not exceed."""
    if not values:
        return None
    return sorted(values)[max(0, ceil(len(values) * percent / 100) - 1)]


def _ratio(wait: float | None, bound: float | None) -> float | None:
    """Return how many times the bound somebody waits. Where nobody has to wait, there is none."""
    return None if wait is None or not bound else round(wait / bound, 2)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
