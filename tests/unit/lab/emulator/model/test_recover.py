"""Derived values that are wrong: noticed, named and computed again."""

from collections.abc import Callable

import pytest

from .play import BLOCK, HOST, MS, Play, S, on_gpu

NAMES = [
    "plain_bytes of a GPU",
    "context_bytes of a GPU",
    "resident_blocks of a GPU",
    "resident_blocks of a process",
    "chunks of a process",
    "lists of active queues",
    "waits_across",
    "lists of active queues",
    "chunks of a GPU",
    "host_blocks of a process",
    "host_blocks",
    "lists of chunks",
    "lists of chunks",
]


@pytest.fixture
def full(begin: Callable[..., Play]) -> Play:
    """A node on which a bit of everything is going on."""
    play = begin("2xt4")
    process = play.process()
    queue, other = process.queue(gpu=0), process.queue(gpu=1)
    process.context()
    process.plain(10 * BLOCK)
    process.range(5).place(on_gpu(0))
    process.range(5).place(on_gpu(1))
    process.range(5).place(on_gpu(0)).place(HOST)
    queue.kernel(S)
    other.wait(queue, 1)
    other.kernel(S)
    play.advance(MS)
    return play


@pytest.mark.parametrize(("what", "name"), list(enumerate(NAMES)))
def test_a_difference_is_noticed_and_mended(full: Play, what: int, name: str) -> None:
    assert full.difference() is None
    before = full.report()
    full.ask("scramble", what)
    assert full.difference() == name
    full.ask("recover")
    assert full.difference() is None
    assert full.report() == before


def test_everything_at_once(full: Play) -> None:
    before = full.report()
    for what in range(len(NAMES)):
        full.ask("scramble", what)
    full.ask("recover")
    assert full.report() == before
    full.advance(10 * S)
    assert full.report()["processes"]["0"]["pending"] == [0, 0]


def test_recovery_of_an_empty_node(play: Play) -> None:
    before = play.report()
    play.ask("recover")
    assert play.report() == before
    assert play.difference() is None
