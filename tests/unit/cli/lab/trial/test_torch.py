from pathlib import Path

import pytest

from nvshare.cli.lab.trial.torch import TorchPrograms
from nvshare.cli.lab.trial.work import Work
from nvshare.errors import BadInputError
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.sim.catalog import load_known
from nvshare.lab.sim.scenario import Program
from nvshare.lab.sim.workload import phases_of

(T4,) = parse_gpus("t4")
PROGRAMS = TorchPrograms(Path("/torch/bin/python"), speed=10)
MIB = 1 << 20


def program(**fields: object) -> Program:
    return Program.model_validate({"name": "p", "startup": 6.0, **fields})


def words(told: Program) -> list[str]:
    python, held, *rest = PROGRAMS.command(told, managed=False, seed=0)
    assert python == "/torch/bin/python"
    assert held.endswith("/workloads/pytorch/held.py")
    assert rest[:2] == ["--startup", "6.0"]
    assert Path(rest[2]).is_file()
    return [Path(rest[2]).name, *rest[3:]]


def test_a_workload_is_the_program_of_that_name() -> None:
    assert words(program(workload="pytorch-add")) == ["pytorch_add.py"]
    told = program(workload="pytorch-add-small", iterations=100)
    assert words(told) == ["pytorch_add_small.py", "--iterations", "100"]


@pytest.mark.parametrize(
    ("memory", "allocator"),
    [("handles", "expandable_segments:True"), ("pool", "backend:cudaMallocAsync")],
)
def test_the_allocator_asks_for_memory_in_the_same_way(memory: str, allocator: str) -> None:
    programs = TorchPrograms(PROGRAMS.python, speed=10, memory=memory)
    told = program(workload="pytorch-add")
    plain = PROGRAMS.command(told, managed=False, seed=0)
    assert programs.command(told, managed=False, seed=0) == [
        *("env", f"PYTORCH_ALLOC_CONF={allocator}"),
        *plain,
    ]


def test_sleeps_are_as_short_as_the_emulated_second() -> None:
    told = program(workload="pytorch-add-idle-small")
    assert words(told) == ["pytorch_add_idle_small.py", "--sleep", "0.01"]


def test_phases_are_told_in_blocks() -> None:
    phases = [{"memory": "6Mi", "copy_in": "2Mi", "iterations": 3}, {"touch": "4Mi"}]
    assert words(program(phase=phases)) == [
        *("pytorch_phases.py", "--block", str(2 * MIB)),
        *("--phase", f"memory={6 * MIB},copy_in={2 * MIB},touch={6 * MIB},iterations=3"),
        *("--phase", f"memory={6 * MIB},copy_in=0,touch={4 * MIB},iterations=0"),
    ]


def test_large_tensors_are_launched_in_halves() -> None:
    for workload, kernels in (("pytorch-add", 8000), ("pytorch-add-small", 40000)):
        told = program(workload=workload)
        launched, meant = Work(PROGRAMS.launched(told), T4), Work(told, T4)
        assert launched.kernels == kernels
        assert launched.iterations == meant.iterations
        assert launched.total == pytest.approx(meant.total)


def test_an_iteration_of_a_phase_is_one_operation_per_block() -> None:
    (_, growing) = load_known("X3").program
    launched = PROGRAMS.launched(growing)
    assert [phase.kernels for phase in phases_of(launched)] == [1, 4, 12]
    assert Work(launched, T4).total == pytest.approx(Work(growing, T4).total)


@pytest.mark.parametrize(
    ("phase", "why"),
    [
        ({"memory": "1Gi", "iterations": 1, "kernel_seconds": 0.1}, "does more than grow"),
        ({"memory": "1Gi", "iterations": 1, "idle": 0.1}, "does more than grow"),
        ({"memory": "1Gi", "touch": "2Mi", "iterations": 1}, "not multiples of one size"),
        ({"iterations": 1}, "not multiples of one size"),
    ],
)
def test_what_cannot_be_played(phase: dict[str, object], why: str) -> None:
    with pytest.raises(BadInputError, match="cannot be played by PyTorch") as caught:
        words(program(phase=[phase]))
    assert why in (caught.value.why or "")


def test_they_do_not_ask_for_unified_memory() -> None:
    with pytest.raises(BadInputError, match="unified memory"):
        PROGRAMS.command(program(workload="pytorch-add"), managed=True, seed=0)
