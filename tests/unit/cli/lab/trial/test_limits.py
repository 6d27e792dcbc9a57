from typing import Any

from nvshare.cli.lab.trial.limits import with_limits
from nvshare.core.settings import NO_LIMITS
from nvshare.lab.sim.scenario import Program

WORK = {"name": "p", "phase": [{"iterations": 1}]}


def limited(**fields: Any) -> dict[str, str]:
    program = Program.model_validate({**WORK, **fields})
    environ = with_limits(program.limits(), {"HOME": "/", "NVSHARE_GROUP": "all"})
    assert environ.pop("HOME") == "/"
    assert environ.pop("NVSHARE_GROUP") != "all"
    return environ


def test_limits_become_variables() -> None:
    assert limited() == {}
    assert limited(compute=40, burst=True, priority="high") == {
        "NVSHARE_GPU_CORE_LIMIT": "40",
        "NVSHARE_GPU_BURST": "1",
        "NVSHARE_GPU_PRIORITY": "high",
    }


def test_everybody_has_limits_of_its_own() -> None:
    assert len({with_limits(NO_LIMITS, {})["NVSHARE_GROUP"] for _ in range(3)}) == 3
