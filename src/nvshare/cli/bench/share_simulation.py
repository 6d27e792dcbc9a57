"""Cases of shares, reckoned out in the simulator."""

from typing import Any

from nvshare.cli.bench.share_cases import MODEL, WARM_UP_S, Case, Client
from nvshare.cli.bench.share_results import Got
from nvshare.sim.engine import simulate
from nvshare.sim.scenario import Scenario

# More than anybody gets through.
_ENDLESS = 10**9
# Long enough for the core to hear of an allocation before the memory is used.
_PAUSE_S = 0.001


def reckon(case: Case, seconds: float) -> Got:
    """Return what programs get once shares have settled."""
    length = case.measured_seconds(seconds)
    before, after = (_computed(case, until) for until in (WARM_UP_S, WARM_UP_S + length))
    used = (b - a for a, b in zip(before, after, strict=True))
    return Got(case, length, tuple(100.0 * one / length for one in used))


def _computed(case: Case, until: float) -> list[float]:
    outcome = simulate(scenario_of(case, until))
    return [record.computed for record in outcome.records]


def scenario_of(case: Case, until: float) -> Scenario:
    """Return a case as a scenario. Who does not know nvshare is on a GPU that nobody schedules."""
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
        "kernel_seconds": client.kernel * client.graph_kernels,
        "sync": client.style == "sync",
    }
    return {
        "name": f"client-{number + 1}",
        "gpu": client.gpu,
        "compute": client.percent,
        "phase": [{"memory": client.memory}, computes],
    }
