"""Who holds how much of a GPU, and who leaves when it is full."""

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


def test_plain_memory_evicts_managed_memory(play: Play) -> None:
    managed, plain = play.process(), play.process()
    memory = managed.range(7000).place(on_gpu(0))
    left = USABLE - 7000 * BLOCK
    assert plain.plain(left + 10 * BLOCK) == 10 * BLOCK
    assert memory.where() == "h" * 10 + "0" * 6990
    assert plain.plain(1) == BLOCK
    assert play.gpu()["evictions"] == 11


def test_a_context_evicts_managed_memory(play: Play) -> None:
    managed, other = play.process(), play.process()
    memory = managed.range(USABLE // BLOCK).place(on_gpu(0))
    assert other.context() == 0
    assert memory.where().count("h") == 150
    assert play.gpu()["free_bytes"] < BLOCK


def test_memory_that_does_not_fit_is_not_evicted_for(play: Play) -> None:
    managed, plain = play.process(), play.process()
    memory = managed.range(1000).place(on_gpu(0))
    plain.plain(5000 * BLOCK)
    assert plain.plain(USABLE) == -errno.ENOMEM
    assert memory.where() == "0" * 1000


def test_the_first_to_come_is_the_first_to_go(play: Play) -> None:
    first, second = play.process(), play.process()
    old = [first.range(3), second.range(3), first.range(3)]
    for memory in old:
        memory.place(on_gpu(0))
    plain = play.process()
    plain.plain(play.gpu()["free_bytes"])
    plain.plain(4 * BLOCK)
    assert [memory.where() for memory in old] == ["hhh", "h00", "000"]


def test_use_does_not_save_a_block_but_coming_back_does(play: Play) -> None:
    process = play.process()
    memory, other = process.range(4).place(on_gpu(0)), process.range(2).place(on_gpu(0))
    queue, plain = process.queue(), play.process()
    queue.touch(memory)
    plain.plain(play.gpu()["free_bytes"])
    plain.plain(2 * BLOCK)
    assert memory.where() == "hh00"
    plain.free_plain(2 * BLOCK)
    queue.touch(memory)
    play.advance(S)
    plain.plain(4 * BLOCK)
    # The two that came back are the youngest now.
    assert (memory.where(), other.where()) == ("00hh", "hh")


def test_the_order_begins_where_a_range_comes_back(play: Play) -> None:
    process, plain = play.process(), play.process()
    memory = process.range(6).place(on_gpu(0))
    plain.plain(play.gpu()["free_bytes"])
    plain.plain(3 * BLOCK)
    plain.free_plain(3 * BLOCK)
    # Out and in again, from the beginning: whatever went before does not matter.
    memory.place(HOST).place(on_gpu(0))
    plain.plain(2 * BLOCK)
    assert memory.where() == "hh0000"


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
    heir = play.process()
    assert heir.number == process.number
    assert heir.account()["plain_bytes"] == heir.account()["compute_ns"] == 0
    assert heir.range(10).where() == "-" * 10
    queue = heir.queue()
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
