"""Share cases, in the simulator."""

from typing import Any

from nvshare.cli.lab.bench.share_cases import MODEL, WARM_UP_S, Case, Client
from nvshare.cli.lab.bench.share_results import Got
from nvshare.lab.sim.engine import simulate
from nvshare.lab.sim.record import Kind, Record
from nvshare.lab.sim.scenario import Scenario

# More iterations than any program completes.
_ENDLESS = 10**9
# Long enough for the core to learn of an allocation before the memory is used.
_PAUSE_S = 0.001


def simulate_case(case: Case, seconds: float) -> Got:
    """Return what programs get in the steady state."""
    begin = WARM_UP_S
    end = begin + case.measured_seconds(seconds)
    if case.takes_turns:
        begin, end = _whole_rounds(case, begin, end - begin)
    length = end - begin
    before, after = (_records(case, until) for until in (begin, end))
    used = (b.computed - a.computed for a, b in zip(before, after, strict=True))
    percents = tuple(100.0 * one / length for one in used)
    return Got(case, length, percents, tuple(_latencies(record) for record in after))


def _whole_rounds(case: Case, begin: float, length: float) -> tuple[float, float]:
    """Return when turns of the first program begin, at least this far apart."""
    horizon = begin + 2 * length
    first = simulate(scenario_of(case, horizon), picture=True).records[0]
    turns = [span.begin for span in first.spans or () if span.kind is Kind.RUN]
    begin = next(turn for turn in turns if turn >= begin)
    return begin, next(turn for turn in turns if turn >= begin + length)


def _records(case: Case, until: float) -> tuple[Record, ...]:
    return simulate(scenario_of(case, until), picture=case.is_about_latency).records


def _latencies(record: Record) -> tuple[float, ...]:
    return tuple(
        burst.ended - burst.wanted
        for burst in record.bursts or ()
        if burst.ended is not None and burst.wanted >= WARM_UP_S
    )


def scenario_of(case: Case, until: float) -> Scenario:
    """Return a case as a scenario. A bare program is on a GPU with mode off."""
    told: dict[str, Any] = {
        "name": case.name,
        "gpus": f"{case.gpus}x{MODEL}",
        "until": until,
        "device": {client.gpu: {"mode": "off"} for client in case.clients if client.is_bare},
        "program": [_program(number, client) for number, client in enumerate(case.clients)],
    }
    return Scenario.model_validate(told)


def _program(number: int, client: Client) -> dict[str, Any]:
    computes = {
        "wait": _PAUSE_S,
        "iterations": _ENDLESS,
        "kernels": max(1, client.burst),
        "kernel_seconds": client.kernel * client.graph_kernels,
        "sync": client.style == "sync",
        "idle": client.rest,
        "idle_jitter": client.rest,
    }
    return {
        "name": f"client-{number + 1}",
        "gpu": client.gpu,
        "compute": client.percent,
        "priority": client.priority,
        "phase": [{"memory": client.memory}, computes],
    }
