import pytest

from nvshare.cli.lab.trial.work import Work
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.sim.scenario import Phase, Program

(T4,) = parse_gpus("t4")


def test_kernels_of_every_phase_count_with_their_own_length() -> None:
    phases = (
        Phase(memory=10),
        Phase(iterations=10, kernels=2, kernel_seconds=0.1),
        Phase(iterations=5, kernel_seconds=1.0),
    )
    work = Work(Program(name="p", phase=phases), T4)
    assert (work.kernels, work.iterations, work.total) == (25, 15, 7.0)
    told = [work.seconds(kernels) for kernels in (0, 1, 20, 21, 25, 99)]
    assert told == pytest.approx([0.0, 0.1, 2.0, 3.0, 7.0, 7.0])


def test_a_program_without_kernels() -> None:
    work = Work(Program(name="p", phase=(Phase(memory=10),)), T4)
    assert (work.total, work.seconds(3)) == (0.0, 0.0)
