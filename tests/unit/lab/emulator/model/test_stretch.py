"""Work on managed memory: first touch, resident, by faults, reading in place.

Prefetches are in test_migrate.py, the effect of faults on others in test_faults.py.
"""

from collections.abc import Callable

import pytest

from .play import (
    BLOCK,
    BUS_IN,
    BUS_OUT,
    FIXED_COST,
    GB,
    HOST,
    MIB,
    MS,
    OVERWRITES,
    READS_ONLY,
    US,
    Play,
    Process,
    Queue,
    Range,
    S,
    on_gpu,
)

LAUNCH = 5 * US
ARRAY = 2992 * MIB // BLOCK  # blocks of one array of pytorch-add; four are alive
ROOM = int(14913.6875) * MIB // BLOCK  # blocks that an empty T4 can hold

# Bytes per second on a T4.
MEMORY = 243 * GB
POPULATE = 7.7 * GB
FAULT = 0.717 * GB
BUS = 12 * GB
EVICT = 1.34 * GB  # while a fault is served


def ns(blocks: float, rate: float) -> float:
    return blocks * BLOCK * 1e9 / rate


def on(queue: Queue, play: Play, limit: int = 1000 * S) -> int:
    """Wait for the newest operation of a queue; return how long it took."""
    before = play.now
    play.advance(limit)
    ended = queue.finished()[-1]
    assert ended < before + limit
    return ended - before - LAUNCH


def test_first_touch_populates(play: Play) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(ARRAY)
    queue.touch(memory)
    assert on(queue, play) == pytest.approx(ns(ARRAY, POPULATE), abs=ARRAY)
    assert memory.where() == "0" * ARRAY
    assert play.gpu()["in_bytes"] == 0  # nothing was there to be moved


def test_resident_memory_costs_what_plain_memory_costs(play: Play) -> None:
    process = play.process()
    queue = process.queue()
    memory = process.range(ARRAY).place(on_gpu(0))
    queue.touch(memory)
    assert on(queue, play) == pytest.approx(ns(ARRAY, MEMORY), abs=1)
    queue.touch(memory, memory)
    assert on(queue, play) == pytest.approx(2 * ns(ARRAY, MEMORY), abs=2)
    queue.touch((memory, 7, 100))
    assert on(queue, play) == pytest.approx(ns(100, MEMORY), abs=1)


def test_a_fixed_cost_includes_resident_memory(play: Play) -> None:
    process = play.process()
    queue = process.queue()
    memory = process.range(ARRAY).place(on_gpu(0))
    queue.work(0, 3 * MS, FIXED_COST, [memory])
    assert on(queue, play) == 3 * MS


def test_a_fixed_cost_does_not_include_faults(play: Play) -> None:
    process = play.process()
    queue = process.queue()
    memory = process.range(10).place(HOST)
    queue.work(0, 3 * MS, FIXED_COST, [memory])
    assert on(queue, play) == pytest.approx(3 * MS + ns(10, FAULT), abs=10)


def test_plain_and_managed_memory_add_up(play: Play) -> None:
    process = play.process()
    queue = process.queue()
    memory = process.range(100).place(on_gpu(0))
    queue.work(0, 3 * MS, 0, [memory])
    assert on(queue, play) == pytest.approx(3 * MS + ns(100, MEMORY), abs=1)


def test_a_full_gpu_evicts_and_charges_the_way_out(play: Play) -> None:
    old, new = play.process(), play.process()
    before = old.range(ROOM).place(on_gpu(0))
    queue, memory = new.queue(), new.range(100).place(HOST)
    queue.touch(memory)
    assert on(queue, play) == pytest.approx(ns(100, FAULT) + ns(100, EVICT), abs=200)
    assert before.where() == "h" * 100 + "0" * (ROOM - 100)
    gpu = play.gpu()
    assert (gpu["evictions"], gpu["out_bytes"]) == (100, 100 * BLOCK)
    assert gpu["resident_blocks"] == ROOM


def test_first_touch_on_a_full_gpu_pays_the_way_out_too(play: Play) -> None:
    old, new = play.process(), play.process()
    old.range(ROOM).place(on_gpu(0))
    queue, memory = new.queue(), new.range(100)
    queue.touch(memory)
    assert on(queue, play) == pytest.approx(ns(100, POPULATE) + ns(100, EVICT), abs=200)


def test_what_overwrites_needs_no_zeroes(play: Play) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(100)
    queue.work(BUS_IN, 100 * BLOCK, OVERWRITES, [memory])
    assert on(queue, play) == pytest.approx(ns(100, BUS), abs=1)
    assert memory.where() == "0" * 100


def test_a_copy_out_reads_blocks_where_they_are(play: Play) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(100)
    memory.place(HOST, 0, 50).place(on_gpu(0), 50, 50)
    queue.work(BUS_OUT, 100 * BLOCK, READS_ONLY, [memory])
    assert on(queue, play) == pytest.approx(ns(100, BUS), abs=1)
    assert memory.where() == "h" * 50 + "0" * 50


def test_a_set_larger_than_the_gpu_evicts_itself(play: Play) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(ROOM + 50)
    queue.touch(memory)
    play.advance(100 * S)
    assert memory.where() == "h" * 50 + "0" * ROOM
    # And again: all of it comes in anew, as each block is evicted just before it is needed.
    queue.touch(memory)
    every = ROOM + 50
    assert on(queue, play) == pytest.approx(ns(every, FAULT) + ns(every, EVICT), abs=2 * every)


def test_prefer_host_means_reading_over_the_bus_each_time(play: Play) -> None:
    process = play.process()
    queue = process.queue()
    arrays = [process.range(ARRAY).place(HOST) for _ in range(3)]
    for array in arrays:
        array.advise(preferred=HOST)
    for _ in range(2):
        queue.touch(*arrays)
        # About 1.3 iterations a second for 9.4 GB, where 25.8 would be possible.
        assert S / on(queue, play) == pytest.approx(12 / 9.412, rel=1e-3)
    assert play.gpu()["resident_blocks"] == 0
    assert play.gpu()["in_bytes"] == 2 * 3 * ARRAY * BLOCK
    queue.prefetch(*arrays, to=on_gpu(0))
    assert on(queue, play) == pytest.approx(ns(3 * ARRAY, BUS), rel=1e-3)
    queue.touch(*arrays)
    assert on(queue, play) == pytest.approx(ns(3 * ARRAY, MEMORY), abs=3)


def test_what_prefers_the_host_is_made_there(play: Play) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(100)
    memory.advise(preferred=HOST)
    queue.touch(memory)
    assert on(queue, play) == pytest.approx(ns(100, POPULATE) + ns(100, BUS), abs=100)
    assert memory.where() == "h" * 100
    queue.touch(memory)
    assert on(queue, play) == pytest.approx(ns(100, BUS), abs=1)


def test_accessed_by_reads_over_the_bus(play: Play) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(100).place(HOST)
    memory.advise(accessed_by=1)
    queue.touch(memory)
    assert on(queue, play) == pytest.approx(ns(100, BUS), abs=1)
    assert memory.where() == "h" * 100
    memory.advise(accessed_by=2)  # by another GPU: that does not help this one
    queue.touch(memory)
    assert on(queue, play) == pytest.approx(ns(100, FAULT), abs=100)
    assert memory.where() == "0" * 100


def test_advice_holds_for_the_blocks_it_was_given_for(play: Play) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(100).place(HOST)
    memory.advise(accessed_by=1, first=0, blocks=30)
    memory.advise(preferred=HOST, first=70, blocks=30)
    queue.touch(memory)
    assert on(queue, play) == pytest.approx(ns(60, BUS) + ns(40, FAULT), abs=100)
    assert memory.where() == "h" * 30 + "0" * 40 + "h" * 30


def test_a_kernel_fetches_blocks_from_another_gpu(begin: Callable[..., Play]) -> None:
    play = begin("2xt4")
    process = play.process()
    queue, memory = process.queue(gpu=0), process.range(64).place(on_gpu(1))
    queue.touch(memory)
    assert on(queue, play) == pytest.approx(ns(64, FAULT), abs=64)
    assert memory.where() == "0" * 64


def test_room_that_goes_while_a_block_is_on_its_way(play: Play) -> None:
    owner, process = play.process(), play.process()
    queue, memory = process.queue(), process.range(3)
    memory.place(HOST)
    queue.touch(memory)
    play.advance(LAUNCH + MS)
    assert owner.plain(play.gpu()["free_bytes"]) == 0
    play.advance(S)
    assert len(queue.finished()) == 1
    assert memory.where() == "hhh"  # never more on the GPU than fits
    assert play.gpu()["resident_blocks"] == 0


def test_two_kernels_that_fault_on_the_same_memory(play: Play) -> None:
    process = play.process()
    queues, memory = [process.queue(), process.queue()], process.range(10).place(HOST)
    for queue in queues:
        queue.touch(memory)
    play.advance(S)
    assert memory.where() == "0" * 10
    assert play.gpu()["in_bytes"] == 10 * BLOCK  # what is there need not come again


def free_and_take(process: Process, memory: Range) -> None:
    """Free memory that is in use, and let other memory have its number."""
    memory.free()
    process.range(5, at=memory.first + memory.blocks + 10).place(on_gpu(0))


@pytest.mark.parametrize("meanwhile", [lambda _, memory: memory.free(), free_and_take])
@pytest.mark.parametrize("prefetch", [False, True])
def test_memory_that_is_freed_while_it_is_used(
    play: Play, prefetch: bool, meanwhile: Callable[[Process, Range], None]
) -> None:
    process = play.process()
    queue = process.queue()
    memory, rest = process.range(100).place(HOST), process.range(10).place(HOST)
    if prefetch:
        queue.prefetch(memory, rest, to=on_gpu(0))
    else:
        queue.touch(memory, rest)
    play.advance(3 * MS)
    meanwhile(process, memory)
    play.advance(S)
    assert len(queue.finished()) == 1
    assert rest.where() == "0" * 10
    assert play.difference() is None


def test_a_reference_without_blocks(play: Play) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(4).place(HOST)
    queue.touch((memory, 0, 0), (memory, 4, 0), (memory, 3, 1))
    assert on(queue, play) == pytest.approx(ns(1, FAULT), abs=1)


def test_without_any_room_blocks_are_read_where_they_are(play: Play) -> None:
    owner, process = play.process(), play.process()
    owner.plain(play.gpu()["free_bytes"] - BLOCK // 2)
    queue, memory = process.queue(), process.range(100).place(HOST)
    queue.touch(memory)
    assert on(queue, play) == pytest.approx(ns(100, BUS), abs=1)
    assert memory.where() == "h" * 100


def test_a_kernel_waits_for_copies_that_another_stream_has_queued(play: Play) -> None:
    process = play.process()
    filling, computing = process.queue(), process.queue()
    memory = process.range(100).place(HOST)
    filling.prefetch(memory, to=on_gpu(0))
    play.advance(LAUNCH + 3 * MS)
    assert memory.where() == "0" * 100  # as the driver sees it; the bytes are on their way
    computing.touch(memory)
    play.advance(S)
    arrived = filling.finished()[0]
    assert arrived > LAUNCH + ns(100, BUS)
    assert computing.finished()[0] > arrived
    assert play.gpu()["faults"] == 0
