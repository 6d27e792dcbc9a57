"""What came of a case of shares, beside what should have."""

from collections.abc import Sequence
from dataclasses import dataclass

from nvshare.cli.bench.group import Line
from nvshare.cli.bench.share_cases import Case


@dataclass(frozen=True)
class Got:
    """What the GPUs have done for a case: percent of a GPU for every client."""

    case: Case
    seconds: float
    percents: tuple[float, ...]
    # How late the machine was meanwhile, in percent of the time: whoever was late was not nvshare.
    late_percent: float = 0.0

    def line(self) -> Line:
        """Return it as it is printed."""
        case, expected = self.case, self.case.expected(self.percents)
        worst = max(abs(a - b) for a, b in zip(self.percents, expected, strict=True))
        of_sum = self._sum_error(expected)
        line: Line = {
            "case": case.name,
            "set": [client.percent for client in case.clients],
            "gpu_of": [client.gpu for client in case.clients],
            "got": [round(percent, 2) for percent in self.percents],
            "sum_error": round(of_sum, 2),
            "worst_error": round(worst, 2),
        }
        if case.ratio_tolerance is not None:
            error = self._ratio_error(expected)
            line |= {"ratio_error": round(error, 4), "within": error <= case.ratio_tolerance}
            line |= {"ratio_tolerance": case.ratio_tolerance}
        else:
            fits = case.sum_tolerance is None or of_sum <= case.sum_tolerance
            line |= {"within": worst <= case.tolerance and fits, "tolerance": case.tolerance}
            line |= {"sum_tolerance": case.sum_tolerance}
        return {**line, **self._settings()}

    def _sum_error(self, expected: Sequence[float]) -> float:
        """Return how far the sum of a GPU is from what it should be, for the worst of them."""
        sums = [0.0] * self.case.gpus
        for client, have, want in zip(self.case.clients, self.percents, expected, strict=True):
            sums[client.gpu] += have - want
        return max(abs(one) for one in sums)

    def _ratio_error(self, expected: Sequence[float]) -> float:
        first, second = self.percents[:2]
        return abs(first / second / (expected[0] / expected[1]) - 1) if second else 1.0

    def _settings(self) -> Line:
        clients = self.case.clients
        return {
            "style": [client.style for client in clients],
            "kernel_s": [client.kernel for client in clients],
            "seconds": round(self.seconds, 2),
            "late_percent": round(self.late_percent, 1),
        }
