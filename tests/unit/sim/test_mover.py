"""Bulk moves of one program's memory, on a GPU where nothing else happens."""

from collections.abc import Callable

import pytest

from nvshare.sim.engine import Engine
from nvshare.sim.mover import Mover, Progress
from nvshare.sim.scenario import Scenario
from nvshare.sim.site import Site

from .making import GB

BUS = 12e9


def play(*steps: Callable[[Site, Mover], None]) -> tuple[Site, Mover, list[float]]:
    """Have a program of 4 GB that rests; take a step every second; say when the mover was done."""
    phases = [{"memory": 4 * GB, "copy_in": 4 * GB}, {"wait": 10.0, "iterations": 0}]
    data = {"name": "test", "gpus": "t4", "program": [{"name": "p", "phase": phases}]}
    engine = Engine(Scenario.model_validate(data), check=True)
    (site,) = engine.sites
    done: list[float] = []
    movers: list[Mover] = []

    def take(step: Callable[[Site, Mover], None]) -> None:
        site.gpu.catch_up(engine.now)
        if not movers:
            movers.append(Mover(site, 0, lambda: done.append(engine.now)))
        step(site, movers[0])
        site.settle()

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
    assert done == pytest.approx([2 + 3 * GB / BUS, 4 + 1 * GB / BUS, 6 + 2 * GB / BUS])
    made = mover.take()
    assert (made.out_bytes, made.in_bytes) == (3 * GB, 3 * GB)
    assert made.out_seconds == pytest.approx(3 * GB / BUS)
    assert made.in_seconds == pytest.approx(3 * GB / BUS)
    assert mover.take() == Progress()


def test_more_may_leave_than_was_ordered_at_first() -> None:
    def leave(_: Site, mover: Mover) -> None:
        mover.leave(1 * GB)
        mover.leave(1 * GB)

    _, mover, done = play(leave)
    assert done == pytest.approx([2 + 2 * GB / BUS])
    assert mover.take().out_bytes == 2 * GB


def test_another_order_leaves_it_at_what_has_moved() -> None:
    half = 1 * GB / BUS

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
