"""Cases of latency as scenarios, and what has come of one, whoever has played it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from nvshare.cli.lab.bench.first_come import Machine, Request, serve
from nvshare.cli.lab.bench.latency_cases import MODEL, Asker, Case
from nvshare.cli.lab.bench.latency_results import Waited
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.sim.scenario import Scenario
from nvshare.settings import DeviceSettings

# Until then all have come, and have had their first turns.
WARM_UP_S = 120.0
# The first to ask comes when the trainer is at work, and the others after it, one by one.
_ASKERS_FROM_S = 5.0
_APART_S = 7.0
# More than anybody gets through; and long enough for the core to hear of an allocation.
_ENDLESS = 10**9
_PAUSE_S = 0.001
_KERNEL_S = 0.01
_TRAINERS_KERNEL_S = 0.04
_MIB = 1 << 20


class Asked(NamedTuple):
    """Somebody has wanted the GPU; when its first kernel began, if it has."""

    wanted: float
    who: int
    began: float | None


def judge(
    case: Case, seconds: float, asked: Iterable[Asked], computed: tuple[float, ...]
) -> Waited:
    """Return what has come of a case that was measured for so long after the warm-up."""
    end = WARM_UP_S + seconds
    bursts = sorted(one for one in asked if WARM_UP_S <= one.wanted < end)
    requests = [Request(one.wanted, one.who, case.askers[one.who].seconds) for one in bursts]
    return Waited(
        case,
        seconds,
        waits=tuple(_wait(one, end) for one in bursts),
        at_best=tuple(serve(requests, [one.memory for one in case.askers], machine_of(case))),
        asked_seconds=sum(request.seconds for request in requests),
        computed=computed,
    )


def _wait(asked: Asked, end: float) -> float:
    """Return how long it has waited. Who still waits in the end has waited for so long at least."""
    began = end if asked.began is None else min(asked.began, end)
    return began - asked.wanted


def machine_of(case: Case) -> Machine:
    """Return the GPU as far as the bound needs it, with the room that the daemon counts with."""
    (profile,) = parse_gpus(MODEL)
    settings, memory = DeviceSettings(), round(profile.memory.usable_mib * _MIB)
    programs = len(case.askers) + len(case.trainers)
    room = settings.usable_of(memory) - programs * settings.context_of(memory)
    return Machine(room, sum(case.trainers), profile.bus.host_to_device_gb_per_s * 1e9)


def scenario_of(case: Case, until: float) -> Scenario:
    """Return a case as a scenario: those who ask, and then those who compute all the time."""
    told: dict[str, Any] = {
        "name": case.name,
        "gpus": MODEL,
        "until": until,
        "settings": dict(case.settings),
        "program": [
            *(_asker(number, one, case) for number, one in enumerate(case.askers)),
            *(_trainer(number, memory) for number, memory in enumerate(case.trainers)),
        ],
    }
    return Scenario.model_validate(told)


def _asker(number: int, asker: Asker, case: Case) -> dict[str, Any]:
    asks: dict[str, Any] = {
        "wait": _PAUSE_S,
        "iterations": _ENDLESS,
        "kernels": round(asker.seconds / _KERNEL_S),
        "kernel_seconds": _KERNEL_S,
    }
    if asker.rate is None:
        asks |= {"idle": asker.rest, "idle_jitter": asker.rest_most - asker.rest}
    else:
        asks["rate"] = asker.rate
    return {
        "name": f"asks-{number + 1}",
        "arrival": _ASKERS_FROM_S + number * _APART_S,
        "priority": case.priority,
        "phase": [{"memory": asker.memory, "copy_in": asker.memory}, asks],
    }


def _trainer(number: int, memory: int) -> dict[str, Any]:
    computes = {"wait": _PAUSE_S, "iterations": _ENDLESS, "kernel_seconds": _TRAINERS_KERNEL_S}
    return {
        "name": f"trains-{number + 1}",
        "phase": [{"memory": memory, "copy_in": memory}, computes],
    }
