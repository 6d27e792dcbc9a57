"""Chunks: which process has memory of a GPU, which counts as free, and which is taken next.

Every rule here is one of the published driver's; lab/emulator/model/residency.c names them.
"""

import errno
from collections.abc import Callable

import pytest

from .play import BLOCK, HOST, MIB, MS, Part, Play, Process, Queue, Range, S, on_gpu

USABLE = int(14913.6875 * MIB)
ROOM = USABLE // BLOCK  # blocks that an empty T4 can hold
BATCH = 64


def fill_up(play: Play, process: Process, leave: int = 0) -> None:
    """Take all free memory except some blocks, as plain memory."""
    gpu = play.gpu()
    process.plain(gpu["free_bytes"] + gpu["surplus"] * BLOCK - leave * BLOCK)
    assert play.gpu()["surplus"] == 0


def move(play: Play, process: Process, *parts: Part, to: int) -> None:
    """Prefetch, and wait until it is done."""
    queue = Queue(process, 0) if process.queues else process.queue()
    before = len(queue.finished())
    queue.prefetch(*parts, to=to)
    play.advance(100 * S)
    assert len(queue.finished()) == before + 1


def test_free_memory_does_not_rise_when_managed_memory_is_moved_out(play: Play) -> None:
    process = play.process()
    memory = process.range(1000)
    move(play, process, memory, to=on_gpu(0))
    free = play.gpu()["free_bytes"]
    assert free == USABLE - 1024 * BLOCK
    move(play, process, memory, to=HOST)
    assert memory.where() == "h" * 1000
    assert play.gpu()["free_bytes"] == free
    gpu, account = play.gpu(), process.account()
    assert (gpu["resident_blocks"], gpu["chunks"]) == (0, 1000)
    assert (account["resident_blocks"], account["chunks"]) == (0, 1000)


def free(memory: Range) -> None:
    memory.free()


def kill(memory: Range) -> None:
    memory.process.kill()


@pytest.mark.parametrize("end", [free, kill])
def test_it_rises_when_memory_is_freed_or_a_process_ends(
    play: Play, end: Callable[[Range], None]
) -> None:
    other, process = play.process(), play.process()
    other.range(10).place(on_gpu(0))
    memory = process.range(1000).place(on_gpu(0)).place(HOST)
    before = play.gpu()
    end(memory)
    after = play.gpu()
    assert after["chunks"] == 10
    assert after["free_bytes"] == before["free_bytes"] + 1000 * BLOCK


def test_chunks_are_taken_in_batches_that_count_as_used(play: Play) -> None:
    first, second = play.process(), play.process()
    first.range(1).place(on_gpu(0))
    assert play.gpu()["free_bytes"] == USABLE - BATCH * BLOCK
    assert play.gpu()["surplus"] == BATCH - 1
    # The rest is for the next request, of any process.
    second.range(BATCH - 1).place(on_gpu(0))
    assert play.gpu()["free_bytes"] == USABLE - BATCH * BLOCK
    assert play.gpu()["surplus"] == 0
    second.range(1).place(on_gpu(0))
    assert play.gpu()["free_bytes"] == USABLE - 2 * BATCH * BLOCK


def test_a_batch_is_as_large_as_there_is_room(play: Play) -> None:
    process, plain = play.process(), play.process()
    plain.plain(USABLE - 10 * BLOCK)
    process.range(1).place(on_gpu(0))
    assert (play.gpu()["free_bytes"], play.gpu()["surplus"]) == (0, 9)
    process.range(9).place(on_gpu(0))
    assert play.gpu()["evictions"] == 0


def test_a_block_that_returns_has_its_chunk_still(play: Play) -> None:
    process, plain = play.process(), play.process()
    memory, other = process.range(100).place(on_gpu(0)), process.range(50).place(on_gpu(0))
    move(play, process, memory, to=HOST)
    fill_up(play, plain)
    move(play, process, memory, to=on_gpu(0))
    assert (memory.where(), other.where()) == ("0" * 100, "0" * 50)
    assert play.gpu()["evictions"] == play.gpu()["reclaims"] == 0


def test_who_needs_a_chunk_takes_those_of_blocks_that_have_left(play: Play) -> None:
    old, new, plain = play.process(), play.process(), play.process()
    away, here = old.range(100).place(on_gpu(0)), old.range(100).place(on_gpu(0))
    move(play, old, away, to=HOST)
    fill_up(play, plain)
    out = play.gpu()["out_bytes"]
    memory = new.range(60).place(HOST)
    move(play, new, memory, to=on_gpu(0))
    assert memory.where() == "0" * 60
    # At once and without a copy, although the blocks here are older.
    assert here.where() == "0" * 100
    gpu = play.gpu()
    assert (gpu["out_bytes"], gpu["evictions"], gpu["reclaims"]) == (out, 0, 60)
    assert (old.account()["chunks"], new.account()["chunks"]) == (140, 60)


def test_of_those_that_have_left_the_first_to_go_is_the_first_to_be_taken(play: Play) -> None:
    old, new, plain = play.process(), play.process(), play.process()
    first, second = old.range(3).place(on_gpu(0)), old.range(3).place(on_gpu(0))
    second.place(HOST)
    first.place(HOST)
    fill_up(play, plain)
    new.range(4).place(on_gpu(0))
    plain.free_plain(10 * BLOCK)
    # Two blocks of the first still have a chunk: these two come back without a new one.
    chunks = play.gpu()["chunks"]
    first.place(on_gpu(0), 1, 2)
    assert play.gpu()["chunks"] == chunks
    second.place(on_gpu(0))
    assert play.gpu()["chunks"] == chunks + 3


def test_then_comes_the_block_that_was_served_longest_ago_of_any_process(play: Play) -> None:
    first, second = play.process(), play.process()
    old = [first.range(3), second.range(3), first.range(3)]
    for memory in old:
        memory.place(on_gpu(0))
    plain = play.process()
    fill_up(play, plain)
    plain.plain(4 * BLOCK)
    assert [memory.where() for memory in old] == ["hhh", "h00", "000"]


def test_to_be_used_by_kernels_is_not_to_be_served(play: Play) -> None:
    process, plain = play.process(), play.process()
    memory, other = process.range(4).place(on_gpu(0)), process.range(4).place(on_gpu(0))
    process.queue().touch(memory)
    play.advance(S)
    fill_up(play, plain)
    plain.plain(2 * BLOCK)
    assert (memory.where(), other.where()) == ("hh00", "0000")


def test_a_migrate_call_serves_also_if_nothing_moves(play: Play) -> None:
    process, plain = play.process(), play.process()
    memory, other = process.range(4).place(on_gpu(0)), process.range(4).place(on_gpu(0))
    moved = play.gpu()["moved_in_bytes"]
    move(play, process, (memory, 0, 2), to=on_gpu(0))
    assert play.gpu()["moved_in_bytes"] == moved
    fill_up(play, plain)
    plain.plain(3 * BLOCK)
    assert (memory.where(), other.where()) == ("00hh", "h000")


def test_a_fault_serves(play: Play) -> None:
    process, plain = play.process(), play.process()
    memory = process.range(6).place(on_gpu(0))
    memory.place(HOST, 0, 2)
    process.queue().touch(memory)
    play.advance(S)
    fill_up(play, plain)
    plain.plain(4 * BLOCK)
    assert memory.where() == "00hhhh"


def test_the_order_lasts_through_any_number_of_services(play: Play) -> None:
    process, plain = play.process(), play.process()
    memory = process.range(200).place(on_gpu(0))
    for start in range(0, 150, 3):  # 150 blocks each time: the lists are tidied up on the way
        move(play, process, (memory, start, 150 - start), to=on_gpu(0))
        move(play, process, (memory, 0, 100), to=HOST)
        move(play, process, (memory, 0, 150), to=on_gpu(0))
    fill_up(play, plain)
    plain.plain(53 * BLOCK)
    assert memory.where() == "hhh" + "0" * 147 + "h" * 50


def test_plain_memory_takes_what_waits_before_it_evicts(play: Play) -> None:
    process, plain = play.process(), play.process()
    memory = process.range(10).place(on_gpu(0))
    assert play.gpu()["surplus"] == BATCH - 10
    assert plain.plain(play.gpu()["free_bytes"] + 20 * BLOCK) == 0
    assert play.gpu()["surplus"] == BATCH - 30
    assert memory.where() == "0" * 10


def test_plain_memory_takes_unused_chunks_and_then_the_oldest(play: Play) -> None:
    process, plain = play.process(), play.process()
    here, away = process.range(10).place(on_gpu(0)), process.range(10).place(on_gpu(0))
    away.place(HOST)
    fill_up(play, plain)
    assert plain.plain(10 * BLOCK) == 0
    assert here.where() == "0" * 10
    assert plain.plain(4 * BLOCK) == 4 * BLOCK
    assert here.where() == "hhhh000000"
    assert play.gpu()["evictions"] == 4
    assert play.gpu()["out_left"] == 4 * BLOCK  # which is copied now
    play.advance(10 * MS)
    assert play.gpu()["out_left"] == 0


def test_a_context_evicts_managed_memory(play: Play) -> None:
    managed, other = play.process(), play.process()
    memory = managed.range(ROOM).place(on_gpu(0))
    assert other.context() == 0
    assert memory.where().count("h") == 150
    assert play.gpu()["free_bytes"] < BLOCK


def test_memory_that_does_not_fit_is_not_evicted_for(play: Play) -> None:
    managed, plain = play.process(), play.process()
    memory = managed.range(1000).place(on_gpu(0))
    plain.plain(5000 * BLOCK)
    assert plain.plain(USABLE) == -errno.ENOMEM
    assert memory.where() == "0" * 1000


def test_a_block_may_leave_a_chunk_on_each_gpu(begin: Callable[..., Play]) -> None:
    play = begin("2xt4")
    process = play.process()
    memory = process.range(10).place(on_gpu(0))
    move(play, process, memory, to=on_gpu(1))
    assert memory.where() == "1" * 10
    assert [gpu["chunks"] for gpu in play.report()["gpus"]] == [10, 10]
    assert [gpu["resident_blocks"] for gpu in play.report()["gpus"]] == [0, 10]
    memory.free()
    assert [gpu["chunks"] for gpu in play.report()["gpus"]] == [0, 0]


def test_what_waits_goes_back_with_the_last_process(play: Play) -> None:
    process = play.process()
    process.context()
    process.range(5).place(on_gpu(0))
    process.kill()
    assert (play.gpu()["surplus"], play.gpu()["free_bytes"]) == (0, USABLE)


def test_a_terabyte_of_managed_memory(begin: Callable[..., Play]) -> None:
    play = begin(usable_bytes=2 * 1024**4, host_bytes=0)
    process = play.process()
    queue, memory = process.queue(), process.range(1 << 19)
    queue.prefetch(memory, to=on_gpu(0))
    play.advance(1000 * S)
    assert play.gpu()["resident_blocks"] == play.gpu()["chunks"] == 1 << 19
    queue.prefetch(memory, to=HOST)
    play.advance(1000 * S)
    assert len(queue.finished()) == 2
    assert process.report()["host_blocks"] == 1 << 19
