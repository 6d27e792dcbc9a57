"""The figures of a finished trial, as counted by the GPUs and the daemon."""

from typing import Any

from nvshare.cli.lab.trial.trial import Part, Trial
from nvshare.errors import NvshareError
from nvshare.lab.emulator.report import read_report
from nvshare.lab.sim.figures import ClientFigures, Figures
from nvshare.lab.sim.ideal import earliest_end, jobs_of
from nvshare.lab.sim.recovery import recovery_seconds


def figures_of(trial: Trial, label: str) -> Figures:
    """Add up a trial whose stage still exists. The times of programs alone are not known yet."""
    clients = [_client(part, trial.ended or trial.now) for part in trial.parts]
    comings = [part.coming for part in trial.parts]
    first = min(coming.time for coming in comings)
    ends = [one.time + two.duration_s for one, two in zip(comings, clients, strict=True)]
    places = ((part.coming, part.gpu) for part in trial.parts)
    jobs = jobs_of(trial.scenario, places)
    gpus = read_report(trial.stage.node.folder).gpus
    daemon = trial.stage.daemon
    devices = daemon.status().devices if daemon else ()
    totals = [device.totals for device in devices]
    return Figures(
        scenario=label,
        on="emulator",
        speed=trial.stage.node.speed,
        clients=clients,
        makespan_s=max(ends) - first,
        mean_s=sum(client.duration_s for client in clients) / len(clients),
        baseline_s=None,
        ideal_s=max(map(earliest_end, jobs.values())) - first,
        turn_changes=sum(gpu.turn_changes for gpu in devices),
        # The GPU counts moves of managed memory. Moves of explicit memory look like a program's own
        # copies, so only the daemon can count them.
        swapped_out_bytes=max(
            sum(gpu.moved_out_bytes for gpu in gpus), sum(one.moved_out for one in totals)
        ),
        swapped_in_bytes=max(
            sum(gpu.moved_in_bytes for gpu in gpus), sum(one.moved_in for one in totals)
        ),
        swap_s=sum(gpu.moving_ns for gpu in gpus) / 1e9,
        slices=sum(gpu.slices for gpu in devices),
        more=_more(trial),
    )


def _client(part: Part, ended: float) -> ClientFigures:
    if part.progress is None:
        raise NvshareError(
            f"{part.coming.name} had not started yet when the run was stopped",
            do="allow more time, with --limit",
        )
    if part.result is not None:
        told = part.result.iterations_per_s
        duration, rate = part.result.seconds, part.progress.rate() if told is None else told
    else:
        duration, rate = part.progress.estimate(ended)
    return ClientFigures(
        name=part.coming.name, gpu=part.gpu, duration_s=duration, iterations_per_s=rate
    )


def _more(trial: Trial) -> dict[str, Any]:
    more: dict[str, Any] = {"warnings": [line for part in trial.parts for line in _warnings(part)]}
    if any(part.result is None for part in trial.parts):
        more["extrapolated"] = True
    if trial.scenario.recovery is not None:
        seconds = _recovery(trial, trial.scenario.recovery.after, trial.scenario.recovery.phase)
        more["recovery_seconds"] = None if seconds is None else round(seconds, 3)
    return more


def _warnings(part: Part) -> tuple[str, ...]:
    return part.result.warnings if part.result else ()


def _recovery(trial: Trial, after: str, phase: int | None) -> float | None:
    part = next(part for part in trial.parts if part.coming.name == after)
    if part.result is None or part.progress is None:
        return None
    if phase is None:
        seconds = part.result.seconds
    elif part.result.phases:
        seconds = part.result.phases[phase - 1]
    else:
        seconds = part.progress.begin_of(phase)
    return recovery_seconds(trial.curve_of(part.gpu), part.coming.time + seconds)
