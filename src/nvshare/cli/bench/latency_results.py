"""What came of a case of latency, beside what would be possible."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from nvshare.cli.bench.first_come import Served
from nvshare.cli.bench.group import Line
from nvshare.cli.bench.latency_cases import Case


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
        return {
            "case": self.case.name,
            "priority": self.case.priority,
            "settings": dict(self.case.settings),
            "wait_p50_s": _rounded(percentile(self.waits, 50)),
            "wait_p99_s": _rounded(percentile(self.waits, 99)),
            "bound_p50_s": _rounded(percentile([one.wait for one in self.at_best], 50)),
            "bound_p99_s": _rounded(percentile([one.wait for one in self.at_best], 99)),
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


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
