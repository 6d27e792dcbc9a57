"""How busy a GPU and its users were, in tenths of a second."""

import pytest

from .play import HOST, MS, US, Play, S

LAUNCH = 5 * US


def test_percent_of_the_last_whole_tenth(play: Play) -> None:
    process = play.process()
    queue = process.queue()
    queue.kernel(30 * MS)
    play.advance(100 * MS)
    assert process.busy() == (30, 30)
    queue.kernel(150 * MS)
    play.advance(199 * MS)
    assert process.busy(age=1) == (100, 100)
    assert process.busy(age=2) == (30, 30)
    play.advance(MS)
    assert process.busy(age=1) == (50, 50)
    assert process.busy(age=2) == (100, 100)
    play.advance(100 * MS)
    assert process.busy(age=1) == (0, 0)


def test_users_share_the_whole(play: Play) -> None:
    first, second = play.process(), play.process()
    first.queue().kernel(S)
    second.queue().kernel(S)
    play.advance(S)
    shares = [first.busy(), second.busy()]
    assert [whole for whole, _ in shares] == [100, 100]
    for _, own in shares:
        assert own == pytest.approx(50 / 1.107, abs=2)


def test_faults_keep_a_gpu_busy_and_copies_do_not(play: Play) -> None:
    process = play.process()
    process.queue().touch(process.range(10).place(HOST))
    play.advance(100 * MS)
    assert process.busy() == (29, 0)
    process.queue().copy_in(12 * 100 * 10**6)
    play.advance(100 * MS)
    assert process.busy() == (0, 0)


def test_one_long_step_counts_as_many_short_ones(play: Play) -> None:
    process = play.process()
    process.queue().kernel(20 * S)
    play.advance(10 * S)
    assert [process.busy(age=age) for age in range(1, 64)] == [(100, 100)] * 63
    assert play.gpu()["busy_total_ns"] == 10 * S - LAUNCH


def test_what_is_long_ago_is_forgotten(play: Play) -> None:
    process = play.process()
    process.queue().kernel(100 * MS)
    play.advance(S)
    assert process.busy(age=10) == (100, 100)
    play.advance(6400 * MS)
    assert process.busy(age=10) == (0, 0)
    assert process.busy(age=2**31) == (0, 0)
