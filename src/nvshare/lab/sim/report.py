"""The result of a simulation as figures, for the table and for JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nvshare.lab.sim.engine import Outcome
from nvshare.lab.sim.figures import ClientFigures, Figures
from nvshare.lab.sim.ideal import earliest_end, jobs_of
from nvshare.lab.sim.recovery import recovery_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Client(ClientFigures):
    """The results of one program, with those that only a simulator has."""

    waited_s: float
    longest_wait_s: float
    turns: int
    moved_bytes: int
    ended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary(Figures):
    """The results of all programs."""

    clients: Sequence[Client]
    # Part of the time in which the compute engines had work, over all GPUs.
    utilisation: float


def summarise(outcome: Outcome, label: str | None = None) -> Summary:
    """Add up a simulation."""
    records = [record for record in outcome.records if record.gpu >= 0]
    first = min(record.arrival for record in records)
    places = [record.gpu for record in outcome.records]
    jobs = jobs_of(outcome.scenario, zip(outcome.arrivals, places, strict=True))
    cut_off = any(record.ended is None for record in outcome.records)
    makespan = outcome.ended - first
    gpus = [site.gpu for site in outcome.sites]
    # A GPU without any program has no events; not even its core knows it.
    devices = [site.core_view for site in outcome.sites if site.records]
    durations = [record.duration(outcome.ended) for record in records]
    return Summary(
        scenario=label or outcome.scenario.name,
        on="simulator",
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
        turn_changes=sum(device.turn_changes for device in devices),
        slices=sum(device.slices for device in devices),
        swapped_out_bytes=sum(gpu.moved_out for gpu in gpus),
        swapped_in_bytes=sum(gpu.moved_in for gpu in gpus),
        swap_s=sum(gpu.move_seconds for gpu in gpus),
        utilisation=sum(gpu.processor.busy for gpu in gpus) / (len(gpus) * makespan),
        more=_more(outcome),
    )


def _more(outcome: Outcome) -> dict[str, Any]:
    told = outcome.scenario.recovery
    if told is None:
        return {}
    record = next(record for record in outcome.records if record.name == told.after)
    event = record.ended if told.phase is None else record.phases[told.phase - 1]
    seconds = None
    if event is not None:
        seconds = recovery_seconds(outcome.curves[record.gpu], event)
    return {"recovery_seconds": None if seconds is None else round(seconds, 3)}
