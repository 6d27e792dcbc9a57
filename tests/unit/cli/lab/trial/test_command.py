import itertools

import pytest

from nvshare.cli.lab.trial.command import command_of
from nvshare.errors import BadInputError
from nvshare.lab.sim.scenario import Program

GIB = 1 << 30


def words(**fields: object) -> list[str]:
    program = Program.model_validate({"name": "p", "startup": 6.0, **fields})
    return command_of(program, managed=False, seed=3)


def test_a_workload_is_run_by_its_name() -> None:
    path, *options = words(workload="pytorch-add", iterations=100)
    assert path.endswith("/driver-add")
    assert options == [
        *("pytorch-add", "--held", "--startup", "6.0", "--seed", "3"),
        *("--iterations", "100", "--late", "0.0"),
    ]


def test_one_that_sleeps_is_woken_as_late_as_in_the_simulator() -> None:
    assert words(workload="pytorch-add-idle-small")[-2:] == ["--late", "0.0005"]


def test_phases_are_told_one_by_one_with_what_they_inherit() -> None:
    phases = [
        {"memory": "1Gi", "copy_in": 7},
        {"wait": 2.5, "iterations": 3, "kernels": 2, "kernel_seconds": 0.01, "sync": True},
        {"memory": "4Gi", "touch": "3Gi", "iterations": 5, "idle": 0.1, "idle_jitter": 0.2},
    ]
    path, *options = words(phase=phases, repeat=2)
    assert path.endswith("/driver-phases")
    told = [one for name, one in itertools.pairwise(options) if name == "--phase"]
    assert len(told) == 6
    assert told[:3] == told[3:]
    fields = [dict(field.partition("=")[::2] for field in one.split(",")) for one in told]
    assert fields[1] == {
        "wait": "2.5",
        "memory": str(GIB),
        "copy_in": "0",
        "iterations": "3",
        "kernels": "2",
        "touch": str(GIB),
        "kernel_us": "10000.0",
        "idle": "0.0",
        "idle_jitter": "0.0",
        "rate": "0.0",
        "sync": "",
    }
    assert (fields[2]["memory"], fields[2]["touch"]) == (str(4 * GIB), str(3 * GIB))
    assert (fields[2]["idle"], fields[2]["idle_jitter"]) == ("0.1", "0.2")


def test_who_has_no_nvshare_asks_for_managed_memory_itself() -> None:
    program = Program(name="p", workload="pytorch-add")
    assert "--managed" in command_of(program, managed=True, seed=0)


def test_more_phases_than_the_program_takes() -> None:
    with pytest.raises(BadInputError, match="has 300 phases"):
        words(phase=[{"iterations": 1}], repeat=300)


def test_requests_come_at_a_rate() -> None:
    assert ",rate=2.0" in words(phase=[{"iterations": 1, "rate": 2.0}])[-1]
