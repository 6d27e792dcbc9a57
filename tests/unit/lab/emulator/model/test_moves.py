"""The count of moves: managed memory that changes its place, and the time of that."""

import pytest

from .play import BLOCK, BUS_IN, GB, HOST, OVERWRITES, Play, S, on_gpu

ROOM = int(14913.6875) * 2**20 // BLOCK  # blocks that an empty T4 can hold
BUS = 12 * GB
FAULT, EVICT = 0.717 * GB, 1.34 * GB


def ns(blocks: int, rate: float) -> float:
    return blocks * BLOCK * 1e9 / rate


def moved(play: Play) -> tuple[object, ...]:
    """Return the blocks that came, the blocks that left, and the time."""
    gpu = play.gpu()
    return gpu["moved_in_bytes"] // BLOCK, gpu["moved_out_bytes"] // BLOCK, gpu["moving_ns"]


def test_prefetches_move(play: Play) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(320).place(HOST)
    queue.prefetch(memory, to=on_gpu(0))
    play.advance(S)
    assert moved(play) == (320, 0, pytest.approx(ns(320, BUS), abs=100))
    queue.prefetch(memory, to=HOST)
    play.advance(S)
    assert moved(play) == (320, 320, pytest.approx(2 * ns(320, BUS), abs=200))


def test_time_in_which_two_move_counts_once(play: Play) -> None:
    process = play.process()
    process.queue().prefetch(process.range(320).place(HOST), to=on_gpu(0))
    process.queue().prefetch(process.range(320).place(on_gpu(0)), to=HOST)
    play.advance(S)
    # Each direction gets nine tenths of the bus: a duplex of 1.8.
    assert moved(play) == (320, 320, pytest.approx(ns(320, BUS) / 0.9, rel=0.01))


def test_faults_move_and_push_out(play: Play) -> None:
    old, new = play.process(), play.process()
    old.range(ROOM).place(on_gpu(0))
    new.queue().touch(new.range(100).place(HOST))
    play.advance(10 * S)
    assert moved(play) == (100, 100, pytest.approx(ns(100, FAULT) + ns(100, EVICT), abs=200))


def test_first_touch_moves_nothing_unless_somebody_has_to_go(play: Play) -> None:
    process = play.process()
    process.queue().touch(process.range(ROOM))
    play.advance(10 * S)
    assert moved(play) == (0, 0, 0)
    process.queue().touch(process.range(100))
    play.advance(10 * S)
    assert moved(play)[:2] == (0, 100)
    assert play.gpu()["moving_ns"] > ns(100, BUS)


def test_what_a_program_copies_or_reads_over_the_bus_does_not_count(play: Play) -> None:
    process = play.process()
    queue, copied, read = process.queue(), process.range(100), process.range(100).place(HOST)
    queue.work(BUS_IN, 100 * BLOCK, OVERWRITES, [copied])
    read.advise(preferred=HOST)
    queue.touch(read)
    play.advance(10 * S)
    assert play.gpu()["in_bytes"] == 200 * BLOCK
    assert moved(play) == (0, 0, 0)
