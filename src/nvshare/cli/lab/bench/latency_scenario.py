"""Latency cases as scenarios, and the result of one, played or simulated."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from nvshare.cli.lab.bench.first_come import Machine, Request, Served, serve
from nvshare.cli.lab.bench.latency_cases import MODEL, Asker, Case
from nvshare.cli.lab.bench.latency_results import Waited
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.sim.scenario import Scenario
from nvshare.settings import DeviceSettings

# The first asker starts when the trainer is at work, the others after it, one by one.
_ASKERS_FROM_S = 5.0
_APART_S = 7.0
# More iterations than any program completes; long enough for the core to learn of an allocation.
_ENDLESS = 10**9
_PAUSE_S = 0.001
KERNEL_S = 0.01
_TRAINERS_KERNEL_S = 0.04
_MIB = 1 << 20


class Asked(NamedTuple):
    """A request for the GPU; when its first kernel began, and when its last one ended.

    None: that has not happened, or, for the end, nobody has reported it.
    """

    wanted: float
    who: int
    began: float | None
    ended: float | None = None


def judge(
    case: Case, seconds: float, asked: Iterable[Asked], computed: tuple[float, ...]
) -> Waited:
    """Return the result of a case that was measured for this long after the warm-up."""
    end = case.warm_up + seconds
    so_far = sorted(one for one in asked if one.wanted < end)
    bursts = measured(case, seconds, so_far)
    return Waited(
        case,
        seconds,
        waits=tuple(_wait(one, end) for one in bursts),
        at_best=tuple(_at_best(case, so_far)[len(so_far) - len(bursts) :]),
        asked_seconds=sum(case.askers[one.who].seconds for one in bursts),
        computed=computed,
    )


def _at_best(case: Case, asked: Iterable[Asked]) -> list[Served]:
    """Serve all requests from the beginning: after the warm-up no program begins without memory."""
    requests = [Request(one.wanted, one.who, case.askers[one.who].seconds) for one in asked]
    return serve(requests, [one.memory for one in case.askers], machine_of(case))


def measured(case: Case, seconds: float, asked: Iterable[Asked]) -> list[Asked]:
    """Return the requests of this long after the warm-up, in the order in which they came."""
    return sorted(one for one in asked if 0 <= one.wanted - case.warm_up < seconds)


def _wait(asked: Asked, end: float) -> float:
    """Return how long a request waited: until the end, if it still waits then."""
    began = end if asked.began is None else min(asked.began, end)
    return began - asked.wanted


def machine_of(case: Case) -> Machine:
    """Return the GPU for the bound, with the room that the daemon assumes."""
    (profile,) = parse_gpus(MODEL)
    settings, memory = DeviceSettings(), round(profile.memory.usable_mib * _MIB)
    programs = len(case.askers) + len(case.trainers)
    room = settings.usable_of(memory) - programs * settings.context_of(memory)
    return Machine(room, case.taken_of(room), profile.bus.host_to_device_gb_per_s * 1e9)


def scenario_of(case: Case, until: float) -> Scenario:
    """Return a case as a scenario: the askers, and then the trainers."""
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
        "kernels": round(asker.seconds / KERNEL_S),
        "kernel_seconds": KERNEL_S,
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
