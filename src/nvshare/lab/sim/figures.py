"""The results of a scenario, from the simulator or a trial: the keys of the JSON."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFigures:
    """The results of one program."""

    name: str
    gpu: int
    duration_s: float
    iterations_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The results of all programs. Times are seconds of the GPUs that were modelled."""

    scenario: str
    on: str
    # Seconds of the model in a real second. None: it was simulated.
    speed: float | None = None
    clients: Sequence[ClientFigures]
    makespan_s: float
    mean_s: float
    # The longest of the programs, alone on its GPU and without nvshare. None, like the ideal, if
    # the scenario was cut off and cannot be compared.
    baseline_s: float | None
    ideal_s: float | None
    # Turns given up for memory; those that are not for memory are at the end.
    turn_changes: int
    swapped_out_bytes: int
    swapped_in_bytes: int
    swap_s: float
    slices: int
    # Keys that only some scenarios have.
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """The makespan as a multiple of the best possible one."""
        return self.makespan_s / self.ideal_s if self.ideal_s else None

    def as_json(self) -> dict[str, Any]:
        """Return the output of `--json`."""
        return {
            "scenario": self.scenario,
            "on": self.on,
            "speed": self.speed,
            "clients": [
                {
                    "program": client.name,
                    "index": client.gpu,
                    "duration_seconds": round(client.duration_s, 3),
                    "iterations_per_s": round(client.iterations_per_s, 3),
                }
                for client in self.clients
            ],
            "makespan_seconds": round(self.makespan_s, 3),
            "mean_seconds": round(self.mean_s, 3),
            "baseline_seconds": _rounded(self.baseline_s, 3),
            "ideal_seconds": _rounded(self.ideal_s, 3),
            "ratio": _rounded(self.ratio, 4),
            "turn_changes": self.turn_changes,
            "moved_out": self.swapped_out_bytes,
            "moved_in": self.swapped_in_bytes,
            "moving_seconds": round(self.swap_s, 3),
            "slices": self.slices,
            **self.more,
        }


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
