"""The result of a simulation as figures: what is printed as a table, and what as JSON."""

from dataclasses import dataclass
from typing import Any

from nvshare.sim.engine import Outcome
from nvshare.sim.ideal import earliest_end, jobs_of


@dataclass(frozen=True, slots=True)
class Client:
    """How one program fared."""

    name: str
    gpu: int
    duration_s: float
    iterations_per_s: float
    waited_s: float
    longest_wait_s: float
    turns: int
    moved_bytes: int
    ended: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """How everything went. Times are simulated seconds."""

    scenario: str
    clients: tuple[Client, ...]
    makespan_s: float
    mean_s: float
    # The longest of the programs, alone on its GPU and without nvshare. None, like the ideal, if
    # the simulation was cut off, so that there is nothing to compare.
    baseline_s: float | None
    ideal_s: float | None
    turn_changes: int
    swapped_out_bytes: int
    swapped_in_bytes: int
    swap_s: float
    # Part of the time in which the compute engines had work, over all GPUs.
    utilisation: float

    @property
    def ratio(self) -> float | None:
        """The makespan as a multiple of what is possible at best."""
        return self.makespan_s / self.ideal_s if self.ideal_s else None

    def as_json(self) -> dict[str, Any]:
        """Return what `--json` prints: the same keys as a run on the emulator."""
        return {
            "scenario": self.scenario,
            "on": "simulator",
            "speed": None,
            "clients": [
                {
                    "name": client.name,
                    "gpu": client.gpu,
                    "duration_s": round(client.duration_s, 3),
                    "iterations_per_s": round(client.iterations_per_s, 3),
                }
                for client in self.clients
            ],
            "makespan_s": round(self.makespan_s, 3),
            "mean_s": round(self.mean_s, 3),
            "baseline_s": _rounded(self.baseline_s, 3),
            "ideal_s": _rounded(self.ideal_s, 3),
            "ratio": _rounded(self.ratio, 4),
            "turn_changes": self.turn_changes,
            "swapped_out_bytes": self.swapped_out_bytes,
            "swapped_in_bytes": self.swapped_in_bytes,
            "swap_s": round(self.swap_s, 3),
        }


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def summarise(outcome: Outcome, label: str | None = None) -> Summary:
    """Add up a simulation."""
    records = [record for record in outcome.records if record.gpu >= 0]
    first = min(record.arrival for record in records)
    jobs = jobs_of(outcome)
    cut_off = any(record.ended is None for record in outcome.records)
    makespan = outcome.ended - first
    gpus = [site.gpu for site in outcome.sites]
    durations = [record.duration(outcome.ended) for record in records]
    return Summary(
        scenario=label or outcome.scenario.name,
        clients=tuple(
            Client(
                name=record.name,
                gpu=record.gpu,
                duration_s=record.duration(outcome.ended),
                iterations_per_s=record.iterations_per_s,
                waited_s=record.waited,
                longest_wait_s=record.longest_wait,
                turns=record.turns,
                moved_bytes=record.moved_in + record.moved_out,
                ended=record.ended is not None,
            )
            for record in records
        ),
        makespan_s=makespan,
        mean_s=sum(durations) / len(durations),
        baseline_s=None if cut_off else max(job.alone for group in jobs.values() for job in group),
        ideal_s=None if cut_off else max(map(earliest_end, jobs.values())) - first,
        turn_changes=sum(record.released for record in records),
        swapped_out_bytes=sum(gpu.moved_out for gpu in gpus),
        swapped_in_bytes=sum(gpu.moved_in for gpu in gpus),
        swap_s=sum(gpu.move_seconds for gpu in gpus),
        utilisation=sum(gpu.processor.busy for gpu in gpus) / (len(gpus) * makespan),
    )
