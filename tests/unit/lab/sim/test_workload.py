from random import Random

import pytest

from nvshare.lab.emulator.profile import load_known
from nvshare.lab.sim.scenario import Phase, Program
from nvshare.lab.sim.workload import (
    MIB,
    Compute,
    Connect,
    Copy,
    Request,
    Resize,
    Sleep,
    actions,
    alone_seconds,
    phases_of,
)

T4 = load_known("t4")
TENSOR = 28000 * 28000 * 4


def listed(program: Program) -> list[object]:
    return list(actions(program, T4, Random(0)))


def test_pytorch_add_does_what_the_c_program_does() -> None:
    assert listed(Program(name="a", workload="pytorch-add", startup=6.0)) == [
        Sleep(6.0),
        Connect(),
        Resize(2992 * MIB),
        Copy(TENSOR),
        Resize(5984 * MIB),
        Copy(TENSOR),
        Resize(11968 * MIB),
        Compute(4000, 3 * TENSOR / 243e9, 3 * TENSOR),
    ]


def test_synchronised_iterations_are_submitted_one_by_one() -> None:
    phase = Phase(memory=1000, iterations=2, kernels=3, kernel_seconds=0.5, idle=0.25)
    assert listed(Program(name="a", phase=(phase,))) == [
        Connect(),
        Resize(1000),
        Compute(3, 0.5, 1000, 3),
        Sleep(0.25 + 5e-6),
        Compute(3, 0.5, 1000, 3),
        Sleep(0.25 + 5e-6),
    ]


def test_requests_come_by_chance_and_each_is_one_iteration() -> None:
    phase = Phase(memory=1000, iterations=400, kernels=3, kernel_seconds=0.5, rate=0.25)
    told = listed(Program(name="a", phase=(phase,)))[2:]
    gaps = [one.after for one in told if isinstance(one, Request)]
    assert told[1::2] == [Compute(3, 0.5, 1000, 3)] * 400
    assert len(gaps) == 400
    assert sum(gaps) / 400 == pytest.approx(4.0, rel=0.15)


def test_who_is_asked_rests_for_what_its_requests_leave() -> None:
    phase = Phase(iterations=10, kernel_seconds=0.5, rate=0.25)
    alone, rest = alone_seconds(Program(name="a", phase=(phase,)), T4)
    assert alone == pytest.approx(0.08 + 40.0)
    assert rest == pytest.approx(35.0)


def test_memory_stays_what_it_was_and_is_touched_whole_unless_said_otherwise() -> None:
    phases = (Phase(memory=500), Phase(wait=1.0, iterations=1), Phase(touch=900, iterations=1))
    filled = phases_of(Program(name="a", phase=phases, repeat=2))
    assert [(phase.memory, phase.touch) for phase in filled] == [(500, 500)] * 6


def test_a_kernel_takes_at_least_the_floor() -> None:
    phase = Phase(memory=1, iterations=1)
    assert listed(Program(name="a", phase=(phase,)))[-1] == Compute(1, 2e-6, 1)


def test_jitter_is_drawn_anew_each_time() -> None:
    phase = Phase(memory=1, iterations=3, idle_jitter=1.0)
    sleeps = {a.seconds for a in listed(Program(name="a", phase=(phase,))) if isinstance(a, Sleep)}
    assert len(sleeps) == 3
    assert all(5e-6 <= seconds <= 1.0 + 5e-6 for seconds in sleeps)


@pytest.mark.parametrize(
    ("workload", "measured"),
    [
        ("pytorch-add", 163.0),
        ("pytorch-add-small", 392.0),
        ("pytorch-add-idle-small", 445.0),
    ],
)
def test_alone_they_take_what_was_measured_on_a_real_t4(workload: str, measured: float) -> None:
    program = Program.model_validate({"name": "a", "workload": workload, "startup": 6.0})
    alone, rest = alone_seconds(program, T4)
    assert alone == pytest.approx(measured, rel=0.01)
    assert rest == pytest.approx(401.0 if "idle" in workload else 0.0, abs=0.1)
