import pytest

from nvshare.cli.lab.trial.progress import Progress
from nvshare.cli.lab.trial.work import Work
from nvshare.errors import NvshareError
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.sim.scenario import Phase, Program

PROGRAM = Program(name="p", phase=(Phase(iterations=1000, kernel_seconds=0.1),))


@pytest.fixture
def progress() -> Progress:
    return Progress("p", 10.0, Work(PROGRAM, parse_gpus("t4")[0]))


def test_what_the_gpu_has_counted(progress: Progress) -> None:
    progress.note(20.0, 250)
    assert progress.done == 0.25
    progress.note(20.0, 300)  # the same instant again tells nothing
    assert progress.done == 0.25
    progress.note(30.0, 0)  # it is ending, and is not counted any more
    assert progress.done == 0.25


def test_it_is_done_when_it_says_so_itself(progress: Progress) -> None:
    progress.note(50.0, 900)
    progress.note(60.1, 1000)
    progress.end(50.0)
    assert progress.done == 1.0
    assert progress.curve[-1] == (60.0, 100.0)


def test_what_was_stopped_is_extrapolated_from_the_second_half(progress: Progress) -> None:
    # A quick start, then 100 kernels in 20 s: 5 in a second.
    progress.note(30.0, 400)
    progress.note(50.0, 500)
    seconds, iterations_per_s = progress.estimate(50.0)
    assert seconds == pytest.approx(40 + 500 / 5)
    assert iterations_per_s == pytest.approx(5)


def test_who_has_done_nothing_of_late_is_judged_by_the_whole(progress: Progress) -> None:
    progress.note(30.0, 400)
    progress.note(50.0, 400)
    assert progress.estimate(50.0) == pytest.approx((100, 10))


def test_nothing_can_be_extrapolated_from_nothing(progress: Progress) -> None:
    with pytest.raises(NvshareError, match="before it had done any work"):
        progress.estimate(50.0)


def test_the_rate_counts_from_the_last_look_at_which_nothing_was_done(progress: Progress) -> None:
    progress.note(15.0, 0)
    progress.note(20.0, 0)
    progress.note(25.0, 40)
    progress.end(110.0)
    assert progress.rate() == 1000 / (120 - 20)


def test_a_phase_begins_when_those_before_it_are_done() -> None:
    phases = (Phase(iterations=10, kernel_seconds=0.1), Phase(iterations=10, kernel_seconds=0.1))
    program = Program(name="p", phase=phases)
    progress = Progress("p", 10.0, Work(program, parse_gpus("t4")[0]))
    progress.note(12.0, 9)
    progress.note(13.0, 10)
    progress.note(14.0, 11)
    assert progress.begin_of(1) == 0.0
    assert progress.begin_of(2) == 2.0
