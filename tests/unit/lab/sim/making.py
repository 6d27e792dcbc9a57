"""Scenarios in a line, for tests that compute by hand."""

from typing import Any

from nvshare.lab.sim.engine import Outcome, simulate
from nvshare.lab.sim.scenario import Scenario

GB = 10**9
MIB = 1 << 20
# Long enough for the core to hear of an allocation before the memory is used.
PAUSE = 0.001


def program(
    memory: int = 0, kernels: int = 0, seconds: float = 0.01, **fields: Any
) -> dict[str, Any]:
    """A program that allocates, and computes from a millisecond later on."""
    own: dict[str, Any] = {key: fields.pop(key) for key in ("idle", "touch") if key in fields}
    allocates: dict[str, Any] = {"memory": memory, "copy_in": fields.pop("copy_in", 0)}
    computes: dict[str, Any] = {
        "wait": PAUSE,
        "iterations": kernels,
        "kernel_seconds": seconds,
        **own,
    }
    return {"name": "p", "phase": [allocates, computes], **fields}


def run(*programs: dict[str, Any], gpus: str = "t4", seed: int = 0, **fields: Any) -> Outcome:
    """Simulate, with the core checking itself and every span written down."""
    data: dict[str, Any] = {"name": "test", "gpus": gpus, "program": list(programs), **fields}
    return simulate(Scenario.model_validate(data), seed=seed, check=True, picture=True)


def durations(outcome: Outcome) -> list[float]:
    """How long each program took."""
    return [record.duration(outcome.ended) for record in outcome.records]
