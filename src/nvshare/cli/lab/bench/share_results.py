"""The result of a share case, beside the targets."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from nvshare.cli.lab.bench.group import Line
from nvshare.cli.lab.bench.share_cases import Case
from nvshare.settings import DeviceSettings

# A burst may take this many times what it takes alone, plus the work that the settings allow to be
# in flight before it.
_LATENCY_FACTOR = 1.2
_DEFAULTS = DeviceSettings()


@dataclass(frozen=True)
class Got:
    """What a case measured: percent of a GPU for every client."""

    case: Case
    seconds: float
    percents: tuple[float, ...]
    # The seconds of each burst, for clients that work in bursts.
    latencies: tuple[tuple[float, ...], ...] = ()
    # How late the machine was meanwhile, in percent of the time: delays that are not nvshare's.
    late_percent: float = 0.0

    def line(self) -> Line:
        """Return the result as it is printed."""
        case = self.case
        line: Line = {
            "case": case.name,
            "set": [client.percent for client in case.clients],
            "gpu_of": [client.gpu for client in case.clients],
            "got": [round(percent, 2) for percent in self.percents],
        }
        if case.is_about_latency:
            return {**line, **self._latency(), **self._settings()}
        expected = case.expected(self.percents)
        worst = max(abs(a - b) for a, b in zip(self.percents, expected, strict=True))
        of_sum = self._sum_error(expected)
        line |= {"sum_error": round(of_sum, 2), "worst_error": round(worst, 2)}
        if case.ratio_tolerance is not None:
            error = self._ratio_error(expected)
            line |= {"ratio_error": round(error, 4), "within": error <= case.ratio_tolerance}
            line |= {"ratio_tolerance": case.ratio_tolerance}
        else:
            fits = case.sum_tolerance is None or of_sum <= case.sum_tolerance
            line |= {"within": worst <= case.tolerance and fits, "tolerance": case.tolerance}
            line |= {"sum_tolerance": case.sum_tolerance}
        return {**line, **self._settings()}

    def _latency(self) -> Line:
        beside, alone = (_p99(self.latencies[number]) for number in (0, -1))
        bound = _LATENCY_FACTOR * alone + _DEFAULTS.lab.inflight
        floor = 100.0 * (1 / 20)
        return {
            "sum_error": None,
            "worst_error": None,
            "p99_ms": round(1000 * beside, 2),
            "alone_p99_ms": round(1000 * alone, 2),
            "p99_bound_ms": round(1000 * bound, 2),
            "floor": floor,
            "bursts": len(self.latencies[0]),
            "within": beside <= bound and all(got >= floor for got in self.percents[1:-1]),
        }

    def _sum_error(self, expected: Sequence[float]) -> float:
        """Return how far the sum of a GPU is from its target, for the worst GPU."""
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
            "priority": [client.priority for client in clients],
            "seconds": round(self.seconds, 2),
            "late_percent": round(self.late_percent, 1),
        }


def _p99(seconds: Sequence[float]) -> float:
    return statistics.quantiles(seconds, n=100)[98]
