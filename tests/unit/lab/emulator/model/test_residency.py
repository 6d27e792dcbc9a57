"""How much of a GPU each process holds, and its ranges. What has to leave: test_chunks.py."""

import errno
from collections.abc import Callable

import pytest

from .play import BLOCK, HOST, MIB, MS, Play, S, on_gpu

USABLE = int(14913.6875 * MIB)
CONTEXT = 300 * MIB


def test_memory_is_taken_and_given_back(play: Play) -> None:
    process = play.process()
    assert process.context() == 0
    assert process.plain(100 * BLOCK) == 0
    assert play.gpu()["free_bytes"] == USABLE - CONTEXT - 100 * BLOCK
    account = process.account()
    assert (account["contexts"], account["context_bytes"]) == (1, CONTEXT)
    assert account["plain_bytes"] == 100 * BLOCK
    process.free_plain(100 * BLOCK)
    play.ask("uncontext", process.number, 0)
    assert play.gpu()["free_bytes"] == USABLE


def test_what_does_not_fit_is_refused_and_changes_nothing(play: Play) -> None:
    process = play.process()
    assert process.plain(USABLE - CONTEXT) == 0
    assert process.context() == 0
    assert process.plain(1) == -errno.ENOMEM
    assert process.context() == -errno.ENOMEM
    assert process.plain(2**64 - 1) == -errno.ENOMEM
    assert play.gpu()["free_bytes"] == 0
    assert process.account()["contexts"] == 1


def test_the_dead_hold_nothing(play: Play) -> None:
    process = play.process()
    process.context()
    process.plain(1000 * BLOCK)
    process.range(500).place(on_gpu(0))
    process.range(500).place(HOST)
    process.queue().kernel(S)
    play.advance(MS)
    process.kill()
    gpu = play.gpu()
    assert (gpu["free_bytes"], gpu["active"]) == (USABLE, 0)
    newcomer = play.process()
    assert newcomer.number == process.number
    assert newcomer.account()["plain_bytes"] == newcomer.account()["compute_ns"] == 0
    assert newcomer.range(10).where() == "-" * 10
    queue = newcomer.queue()
    queue.kernel(MS)
    play.advance(S)
    assert len(queue.finished()) == 1


def test_ranges_have_limits(play: Play) -> None:
    process = play.process()
    most = 1 << 19
    for first, blocks in [(0, most + 1), (most, 1), (most - 1, 2), (2**32 - 1, 2), (1, 2**32 - 1)]:
        with pytest.raises(MemoryError):
            process.range(blocks, at=first)
    whole = process.range(most, at=0)
    whole.place(on_gpu(0), most - 1, 1)
    assert whole.where()[-2:] == "-0"


def test_there_are_many_ranges_and_their_numbers_come_back(play: Play) -> None:
    process = play.process()
    ranges = [process.range(1) for _ in range(32768)]
    with pytest.raises(MemoryError):
        process.range(1)
    for number in (5, 30000):
        ranges[number].free()
    assert [process.range(1).number for _ in range(2)] == [5, 30000]


def test_a_freed_range_leaves_the_gpu(play: Play) -> None:
    process = play.process()
    memory = process.range(100).place(on_gpu(0))
    memory.free()
    assert play.gpu()["resident_blocks"] == 0
    assert process.range(100, at=0).where() == "-" * 100


def test_each_gpu_has_its_own_memory(begin: Callable[..., Play]) -> None:
    play = begin("t4,tiny")
    process = play.process()
    assert process.plain(300 * MIB, gpu=1) == -errno.ENOMEM
    assert process.plain(300 * MIB, gpu=0) == 0
    process.range(10).place(on_gpu(1))
    first, second = play.report()["gpus"]
    assert (first["resident_blocks"], second["resident_blocks"]) == (0, 10)


def test_an_enormous_gpu(begin: Callable[..., Play]) -> None:
    play = begin(usable_bytes=2**62, memory_bytes=2**62)
    process = play.process()
    assert process.plain(2**62 - BLOCK) == 0
    assert process.plain(2 * BLOCK) == -errno.ENOMEM
    assert play.gpu()["free_bytes"] == BLOCK
