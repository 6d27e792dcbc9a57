"""When a GPU counts as idle though a program wants it."""

from tests.chaos.excuses import EVERY_GPU, Excuses
from tests.chaos.idle import IdleWatch, Sample


def at(
    now: float, *, done: int = 0, wanted: bool = True, excused: bool = False, delay: float = 0.0
) -> Sample:
    return Sample(now, (done,), is_wanted=wanted, is_excused=excused, delay=delay)


def told(samples: list[Sample]) -> list[float]:
    watch = IdleWatch(bound=1.0)
    return [idle for sample in samples if (idle := watch.note(sample)) is not None]


def test_an_idle_gpu_that_somebody_wants_is_told_of_once() -> None:
    assert told([at(0), at(0.5), at(1.0), at(1.25), at(2), at(3)]) == [1.25]


def test_one_that_does_something_is_not() -> None:
    assert told([at(now / 2, done=now) for now in range(10)]) == []


def test_it_is_told_of_again_after_it_did_something() -> None:
    assert told([at(0), at(2), at(2.5, done=1), at(4, done=1)]) == [2, 1.5]


def test_one_that_nobody_wants_may_be_idle() -> None:
    assert told([at(now, wanted=now % 2 == 0) for now in range(5)]) == []


def test_an_excuse_holds_until_it_is_over() -> None:
    assert told([at(0), at(2, excused=True), at(2.5), at(2.75)]) == []
    assert told([at(0), at(2, excused=True), at(3.5)]) == [1.5]


def test_what_the_machine_has_kept_processes_from_does_not_count() -> None:
    assert told([at(0), at(3, delay=2.5)]) == []
    assert told([at(0), at(3, delay=1.5)]) == [1.5]


def test_excuses_are_for_a_gpu_or_for_all_and_last_a_while_longer() -> None:
    now = 0.0
    excuses = Excuses(lambda: now)
    with excuses.holding(1, and_then=2.0):
        assert (excuses.holds(0), excuses.holds(1)) == (False, True)
    now = 1.5
    assert excuses.holds(1)
    now = 2.5
    assert not excuses.holds(1)
    with excuses.holding(EVERY_GPU, and_then=0.0):
        assert excuses.holds(0)
        assert excuses.holds(1)
    assert not excuses.holds(0)
