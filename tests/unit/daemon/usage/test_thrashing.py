"""When programs are said to page against each other, by looks at a made-up GPU."""

from dataclasses import replace
from typing import Any

import pytest

from nvshare.daemon.usage.thrashing import (
    THRASHING_SECONDS,
    Look,
    Program,
    Thrashing,
    judge,
    seconds_to_judge,
)

GIB = 1 << 30
USABLE = 14 * GIB


def program(number: int, **changes: Any) -> Program:
    """A program of 12 GiB that has a turn, and has made 100 calls per second before."""
    made = Program(
        id=number,
        holds=True,
        is_told=False,
        is_paged=True,
        memory=12 * GIB,
        fixed=0,
        calls=1000,
        busy_seconds=10.0,
        usual=100.0,
    )
    return replace(made, **changes)


def looks(
    *programs: Program,
    calls: float = 0.2,
    busy: float = 1.0,
    seconds: float = THRASHING_SECONDS,
    **of_look: Any,
) -> list[Look]:
    """Look once a second: all make so many calls per second, and have work for that part of it."""
    given = {"utilisation": 100.0, **of_look}
    return [
        Look(
            100.0 + second,
            USABLE,
            tuple(
                replace(
                    one,
                    calls=one.calls + round(calls * second),
                    busy_seconds=one.busy_seconds + busy * second,
                )
                for one in programs
            ),
            **given,
        )
        for second in range(round(seconds) + 1)
    ]


def test_two_that_do_not_fit_and_stand_still() -> None:
    assert judge(looks(program(1), program(2))) == Thrashing(100.0, (1, 2), 24 * GIB, USABLE)


def test_two_that_fit_never_thrash_however_slow() -> None:
    assert judge(looks(program(1), program(2, memory=2 * GIB))) is None


def test_two_that_take_turns_never_thrash() -> None:
    assert judge(looks(program(1), program(2, holds=False))) is None


def test_those_that_go_on_as_usual_do_not_thrash() -> None:
    # Their memory is more than the GPU has, but they do not use all of it.
    assert judge(looks(program(1), program(2), calls=50.0)) is None


def test_a_short_overlap_at_a_change_of_turn_does_not_count() -> None:
    assert judge(looks(program(1), program(2), seconds=THRASHING_SECONDS - 1)) is None
    long = looks(program(1), program(2))
    alone = replace(long[2], programs=(program(1), program(2, holds=False)))
    assert judge([*long[:2], alone, *long[3:]]) is None


def test_a_gpu_that_does_nothing_does_not_page() -> None:
    assert judge(looks(program(1), program(2), utilisation=3.0)) is None
    # One that does not tell is judged by its programs.
    assert judge(looks(program(1), program(2), utilisation=None)) is not None


def test_who_was_told_to_give_way_and_has_not_has_work() -> None:
    told = (program(1, is_told=True), program(2, is_told=True))
    assert judge(looks(*told, busy=0.0, utilisation=None)) is not None


def test_programs_that_have_nothing_to_do_do_not_thrash() -> None:
    assert judge(looks(program(1), program(2), busy=0.0, utilisation=None)) is None


def test_a_busy_gpu_shows_that_silent_programs_have_work() -> None:
    # Their threads wait for room in the driver's queues, and report no work.
    silent = looks(program(1), program(2), busy=0.0)
    assert judge(silent) is not None
    # An outsider may be what it is busy with; so may a third program that goes on.
    assert judge([replace(one, has_outsiders=True) for one in silent]) is None
    third = [program(3, memory=GIB, calls=1000 + 90 * second) for second in range(len(silent))]
    with_third = [
        replace(one, programs=(*one.programs, other))
        for one, other in zip(silent, third, strict=True)
    ]
    assert judge(with_third) is None


def test_of_who_has_no_pace_yet_a_usual_one_is_assumed() -> None:
    new = (program(1, usual=None), program(2, usual=None))
    assert judge(looks(*new, calls=2.0)) is not None
    assert judge(looks(*new, calls=30.0)) is None


def test_long_kernels_are_no_thrashing() -> None:
    slow = (program(1, usual=0.5), program(2, usual=0.5))
    assert judge(looks(*slow, calls=0.4)) is None


def test_the_clock_of_an_emulated_gpu_is_taken_into_account() -> None:
    new = looks(program(1, usual=None), program(2, usual=None), calls=30.0)
    assert judge(new) is None
    assert judge(new, clock=20.0) is not None


def test_one_that_is_larger_than_what_outsiders_leave_pages_against_itself() -> None:
    found = judge(looks(program(1, memory=15 * GIB)))
    assert found == Thrashing(100.0, (1,), 15 * GIB, USABLE)


def test_memory_that_no_driver_pushes_out_leaves_less_room() -> None:
    explicit = program(2, is_paged=False, memory=10 * GIB, fixed=10 * GIB)
    found = judge(looks(program(1, memory=8 * GIB), explicit))
    assert found == Thrashing(100.0, (1,), 8 * GIB, 4 * GIB)
    # Two of that kind wait for each other, and nothing is paged.
    assert judge(looks(explicit, replace(explicit, id=1))) is None


@pytest.mark.parametrize(("calls", "goes_on"), [(15.0, True), (30.0, False)])
def test_it_ends_when_they_are_clearly_faster_and_does_not_flicker(
    calls: float, goes_on: bool
) -> None:
    before = Thrashing(50.0, (1, 2), 24 * GIB, USABLE)
    found = judge(looks(program(1), program(2), calls=calls), before)
    assert (found is not None) == goes_on
    assert judge(looks(program(1), program(2), calls=calls)) is None
    if found is not None:
        assert found.since == 50.0


def test_a_newcomer_is_not_among_them_yet() -> None:
    seen = looks(program(1), program(2))
    late = [*seen[:-1], replace(seen[-1], programs=(*seen[-1].programs, program(3)))]
    found = judge(late)
    assert found is not None
    assert found.programs == (1, 2)


def test_without_looks_nothing_is_said() -> None:
    assert judge([]) is None


def test_a_program_that_runs_for_a_moment_thrashes_all_the_same() -> None:
    before = Thrashing(50.0, (1, 2), 24 * GIB, USABLE)
    assert seconds_to_judge(before) > seconds_to_judge(None) == THRASHING_SECONDS
    # Its pages had come in, and for two seconds it was as fast as usual.
    seen = looks(program(1), program(2), calls=0.2, seconds=seconds_to_judge(before))
    burst = [
        replace(one, programs=(one.programs[0], replace(one.programs[1], calls=1200)))
        for one in seen[-3:]
    ]
    assert judge([*seen[:-3], *burst], before) is not None
    assert judge([*seen[-7:-3], *burst]) is None


def test_who_came_while_others_thrashed_is_one_of_them_soon() -> None:
    before = Thrashing(50.0, (1, 2), 24 * GIB, USABLE)
    long = looks(program(1), program(2), seconds=20)
    third = program(3, is_told=True)
    late = [replace(one, programs=(*one.programs, third)) for one in long[-6:]]
    found = judge([*long[:-6], *late], before)
    assert found is not None
    assert found.programs == (1, 2, 3)
