"""Bulk moves of one program's memory, on a GPU where nothing else happens."""

from collections.abc import Callable

import pytest

from nvshare.lab.sim.engine import Engine
from nvshare.lab.sim.mover import Mover, Progress
from nvshare.lab.sim.scenario import Scenario
from nvshare.lab.sim.site import Site

from .making import GB

BUS = 12e9
# Every chunk of 5 ms ends with a block that is mapped for the CPU, which takes 60 us.
OUT = BUS / 1.012
LATENCY = 100e-6


def play(
    *steps: Callable[[Site, Mover], None], goes_on: Callable[[Mover], None] = lambda _: None
) -> tuple[Site, Mover, list[float]]:
    """Have a resting program of 4 GB; take a step every second; return when the mover was done."""
    phases = [{"memory": 4 * GB, "copy_in": 4 * GB}, {"wait": 10.0, "iterations": 0}]
    data = {"name": "test", "gpus": "t4", "program": [{"name": "p", "phase": phases}]}
    engine = Engine(Scenario.model_validate(data), check=True)
    (site,) = engine.sites
    done: list[float] = []
    movers: list[Mover] = []

    def take(step: Callable[[Site, Mover], None]) -> None:
        site.gpu.catch_up(engine.now)
        if not movers:
            finished = lambda: done.append(engine.now)  # noqa: E731
            movers.append(Mover(site, 0, finished, lambda: goes_on(movers[0])))
        step(site, movers[0])
        site.deliver()

    for number, step in enumerate(steps):
        engine.at(2.0 + number, lambda step=step: take(step))  # type: ignore[misc]
    # After the last step nothing is looked at any more, but the program has not ended.
    engine.run()
    return site, movers[0], done


def test_what_leaves_and_comes_back() -> None:
    missing: list[int] = []

    def look(site: Site, _: Mover) -> None:
        missing.append(site.holding(0).missing)

    _, mover, done = play(
        lambda _, mover: mover.leave(3 * GB),
        look,
        lambda _, mover: mover.fill(1 * GB),
        look,
        lambda _, mover: mover.fill(0),
        look,
    )
    assert missing == [3 * GB, 2 * GB, 0]
    assert done == pytest.approx([2 + 3 * GB / OUT, 4 + 1 * GB / BUS, 6 + 2 * GB / BUS])
    made = mover.take()
    assert (made.out_bytes, made.in_bytes) == (3 * GB, 3 * GB)
    assert made.out_seconds == pytest.approx(3 * GB / OUT)
    assert made.in_seconds == pytest.approx(3 * GB / BUS)
    assert mover.take() == Progress()


def test_more_may_leave_than_was_ordered_at_first() -> None:
    def leave(_: Site, mover: Mover) -> None:
        mover.leave(1 * GB)
        mover.leave(1 * GB)

    _, mover, done = play(leave)
    assert done == pytest.approx([2 + 2 * GB / OUT])
    assert mover.take().out_bytes == 2 * GB


def test_another_order_leaves_it_at_what_has_moved() -> None:
    half = 1 * GB / OUT

    def change(site: Site, mover: Mover) -> None:
        site.after(half, mover.rest)
        mover.leave(2 * GB)

    site, mover, done = play(change, lambda _, mover: mover.fill(0), lambda *_: None)
    out = mover.take()
    assert out.out_bytes == pytest.approx(1 * GB)
    assert out.in_bytes == out.out_bytes
    # The one that was stopped was not done.
    assert len(done) == 1
    assert (site.gpu.moves, site.gpu.moved_in) == (0, out.in_bytes)


def test_nothing_that_could_leave_has_left_at_once() -> None:
    _, _, done = play(lambda _, mover: mover.leave(4 * GB), lambda _, mover: mover.leave(1))
    assert done[-1] == 3.0


def test_what_leaves_is_told_of_in_a_few_steps() -> None:
    told: list[tuple[float, int, int]] = []

    def note(mover: Mover) -> None:
        made = mover.take()
        told.append((made.out_seconds, made.out_bytes, mover.left))

    _, mover, _ = play(lambda _, mover: mover.leave(4 * GB), goes_on=note)
    # They double from a 32nd on, up to an eighth.
    sizes = [GB // 8, GB // 8, GB // 4, *[GB // 2] * 6]
    assert [size for _, size, _ in told] == sizes
    assert [left for *_, left in told] == [4 * GB - sum(sizes[:n]) for n in range(1, 10)]
    assert [seconds for seconds, *_ in told] == pytest.approx([size / OUT for size in sizes])
    assert mover.take().out_bytes == GB // 2


def test_whoever_asks_hears_what_has_left_by_then() -> None:
    told: list[tuple[int, int]] = []

    def leave(site: Site, mover: Mover) -> None:
        mover.leave(4 * GB)
        site.after(GB / 16 / OUT, mover.look)

    def note(mover: Mover) -> None:
        told.append((mover.take().out_bytes, mover.left))

    _, mover, done = play(leave, goes_on=note)
    # In the middle of the first step, and at its end.
    half = GB // 16
    assert [list(one) for one in told[:2]] == [
        pytest.approx([half, 4 * GB - half], abs=1),
        pytest.approx([half, 4 * GB - 2 * half], abs=1),
    ]
    # A query costs nothing, and a mover at rest reports nothing.
    assert done == pytest.approx([2 + 4 * GB / OUT])
    mover.look()
    assert len(told) == 10


def fill_without_room(missing: int) -> Callable[[Site, Mover], None]:
    def fill(_: Site, mover: Mover) -> None:
        mover.set_missing(missing)
        mover.fill(0)

    return fill


def test_what_comes_waits_for_room() -> None:
    goes_on: list[bool] = []

    def look(missing: int) -> Callable[[Site, Mover], None]:
        def step(site: Site, mover: Mover) -> None:
            mover.set_missing(missing)
            site.after(0.5, lambda: goes_on.append(site.gpu.moves > 0))

        return step

    _, mover, done = play(
        lambda _, mover: mover.leave(3 * GB),
        fill_without_room(3 * GB),
        look(11 * GB // 4),
        look(0),
        lambda *_: None,
    )
    # From 4 s on a quarter has room, and a half more seems to be on its way out; from 5 s on, all.
    assert done[1] == pytest.approx(5 + LATENCY + 2.25 * GB / BUS)
    assert goes_on == [False, False]
    # The time that others take is not its own.
    assert mover.take().in_seconds == pytest.approx(3 * GB / BUS)


def test_room_is_missing_first_to_what_nobody_has_used() -> None:
    def fill(site: Site, mover: Mover) -> None:
        site.gpu.board.resize(0, 6 * GB)
        fill_without_room(2 * GB)(site, mover)
        site.after(0.5, lambda: left.append(site.gpu.moves))

    left: list[int] = []
    _, mover, done = play(
        lambda _, mover: mover.leave(3 * GB),
        fill,
        lambda _, mover: mover.set_missing(0),
        lambda *_: None,
    )
    # All used memory has come by then; the gate waits until there is room for the rest.
    assert left == [0]
    assert mover.take().in_seconds == pytest.approx(3 * GB / BUS)
    assert done[1] == pytest.approx(4 + LATENCY)


def test_what_comes_keeps_pace_with_the_room_that_others_make() -> None:
    def fill(site: Site, mover: Mover) -> None:
        fill_without_room(3 * GB)(site, mover)
        for number in range(1, 7):
            missing = 3 * GB - number * GB // 2
            site.after(number * GB / 2 / BUS, lambda left=missing: mover.set_missing(left))  # type: ignore[misc]

    _, mover, done = play(lambda _, mover: mover.leave(3 * GB), fill, lambda *_: None)
    # It begins when the first step is told, and never waits again.
    assert done[1] == pytest.approx(3 + 3.5 * GB / BUS + LATENCY)
    assert mover.take().in_seconds == pytest.approx(3 * GB / BUS)


def test_room_that_is_made_when_all_has_come_changes_nothing() -> None:
    _, _, done = play(
        lambda _, mover: mover.leave(1 * GB),
        lambda _, mover: mover.fill(0),
        lambda _, mover: mover.try_again(),
        lambda *_: None,
    )
    assert len(done) == 2


def test_a_fill_that_is_broken_off_has_brought_what_has_come() -> None:
    def stop(site: Site, mover: Mover) -> None:
        site.after(1 * GB / BUS, mover.rest)

    def fill(site: Site, mover: Mover) -> None:
        fill_without_room(2 * GB)(site, mover)
        stop(site, mover)

    _, mover, done = play(lambda _, mover: mover.leave(3 * GB), fill, lambda *_: None)
    made = mover.take()
    assert len(done) == 1
    assert made.in_bytes == pytest.approx(1 * GB)
    assert made.in_seconds == pytest.approx(1 * GB / BUS)


def test_memory_that_nobody_has_used_is_not_brought_in_and_waits_for_room() -> None:
    def grow(site: Site, mover: Mover) -> None:
        site.gpu.board.resize(0, 6 * GB)
        assert not mover.must_fill(missing=0)
        assert mover.must_fill(missing=1)
        fill_without_room(1 * GB)(site, mover)

    site, mover, done = play(grow, lambda _, mover: mover.set_missing(0), lambda *_: None)
    assert done == pytest.approx([3 + LATENCY])
    assert mover.take() == Progress()
    assert site.gpu.moved_in == 0
