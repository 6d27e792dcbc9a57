import pytest

from nvshare.lab.sim.recovery import recovery_seconds, work_at
from nvshare.lab.sim.report import summarise

from .making import GB, program, run

# Full speed until 10, nothing until 12, half of it until 14, full speed again until 20.
CURVE = [(0.0, 0.0), (10.0, 10.0), (12.0, 10.0), (14.0, 11.0), (20.0, 17.0)]


def test_work_between_two_looks() -> None:
    assert [work_at(CURVE, t) for t in (-1, 5, 11, 13, 30)] == [0, 5, 10, 10.5, 17]


@pytest.mark.parametrize(
    ("event", "seconds"),
    [
        pytest.param(5.0, 0.0, id="nothing was lost"),
        pytest.param(10.0, 4.0, id="half the speed is not enough"),
        pytest.param(13.5, 0.5, id="later"),
        pytest.param(19.5, None, id="it ended before"),
    ],
)
def test_recovery(event: float, seconds: float | None) -> None:
    assert recovery_seconds(CURVE, event) == seconds


def test_a_gpu_without_work_does_not_recover() -> None:
    assert recovery_seconds([], 0.0) is None


def test_after_the_other_has_left_its_memory_comes_in_and_that_is_all() -> None:
    stays = program(10 * GB, 12000, copy_in=10 * GB, name="stays")
    leaves = program(10 * GB, 4000, copy_in=10 * GB, name="leaves", arrival=10.0)
    data = summarise(run(stays, leaves, recovery={"after": "leaves"})).as_json()
    # Of 20 GB, 5 did not fit beside the rest. They come back at 12 GB/s.
    assert data["recovery_seconds"] == pytest.approx(0.42, abs=0.1)


def test_the_beginning_of_a_phase_counts_from_there() -> None:
    phases = [
        {"iterations": 100, "kernel_seconds": 0.1},
        {"memory": 7.7 * GB, "iterations": 100, "kernel_seconds": 0.1},
    ]
    told = {"after": "p", "phase": 2}
    data = summarise(run({"name": "p", "phase": phases}, recovery=told)).as_json()
    # The first touch of 7.7 GB takes a second.
    assert data["recovery_seconds"] == pytest.approx(1.0, abs=0.15)


def test_without_being_asked_nothing_is_said() -> None:
    assert "recovery_seconds" not in summarise(run(program(0, 100))).as_json()
