"""Work on managed memory: first touch, resident, faults, reading in place, prefetches."""

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


@pytest.mark.parametrize(
    ("programs", "seconds"), [(1, 17.50), (2, 17.50), (3, 17.50 * 3 / 2.5), (4, 17.50 * 4 / 2.5)]
)
def test_faults_of_several_programs(
    begin: Callable[..., Play], programs: int, seconds: float
) -> None:
    # Measured: 12 GB in 16 to 19 s for one or two, in 26 to 28 s for four; here without evictions.
    play = begin(usable_bytes=64 * GB)
    queues = []
    for _ in range(programs):
        process = play.process()
        queues.append(process.queue())
        queues[-1].touch(*[process.range(ARRAY).place(HOST) for _ in range(4)])
    play.advance(100 * S)
    for queue in queues:
        assert queue.finished()[0] / S == pytest.approx(seconds, rel=1e-3)
    assert play.gpu()["faults"] == 4 * ARRAY * programs
    assert play.gpu()["in_bytes"] == 4 * ARRAY * programs * BLOCK


def test_while_one_faults_another_computes(play: Play) -> None:
    paging, computing = play.process(), play.process()
    slow, fast = paging.queue(), computing.queue()
    slow.touch(paging.range(1000).place(HOST))
    fast.kernel(S)
    play.advance(10 * S)
    assert fast.finished() == [LAUNCH + S]
    assert slow.finished()[0] == pytest.approx(LAUNCH + ns(1000, FAULT), abs=1000)
    assert paging.account()["fault_ns"] == pytest.approx(ns(1000, FAULT), abs=1000)


def test_a_full_gpu_evicts_and_charges_the_way_out(play: Play) -> None:
    old, new = play.process(), play.process()
    before = old.range(ROOM).place(on_gpu(0))
    queue, memory = new.queue(), new.range(100).place(HOST)
    queue.touch(memory)
    assert on(queue, play) == pytest.approx(ns(100, FAULT) + ns(100, BUS), abs=100)
    assert before.where() == "h" * 100 + "0" * (ROOM - 100)
    gpu = play.gpu()
    assert (gpu["evictions"], gpu["out_bytes"]) == (100, 100 * BLOCK)
    assert gpu["resident_blocks"] == ROOM


def test_first_touch_on_a_full_gpu_pays_the_way_out_too(play: Play) -> None:
    old, new = play.process(), play.process()
    old.range(ROOM).place(on_gpu(0))
    queue, memory = new.queue(), new.range(100)
    queue.touch(memory)
    assert on(queue, play) == pytest.approx(ns(100, POPULATE) + ns(100, BUS), abs=100)


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
    assert on(queue, play) == pytest.approx(ns(every, FAULT) + ns(every, BUS), abs=every)


def run_iterations(play: Play, programs: list[Process], seconds: int) -> list[int]:
    """pytorch-add on managed memory: x and y, and one of two results in turn."""
    queues, arrays = [], []
    for program in programs:
        queues.append(program.queue())
        arrays.append([program.range(ARRAY) for _ in range(4)])
    end = play.now + seconds * S
    tickets = [0] * len(programs)
    while play.now < end:
        for i, queue in enumerate(queues):
            while tickets[i] < len(queue.finished()) + 3:
                x, y, *results = arrays[i]
                tickets[i] = queue.touch(x, y, results[tickets[i] % 2])
        play.advance(S // 5)
    return [len(queue.finished()) for queue in queues]


def test_one_program_that_fits_is_as_fast_as_on_plain_memory(play: Play) -> None:
    program = play.process()
    program.context()
    (iterations,) = run_iterations(play, [program], 20)
    # 25.83 a second; 5 at a time are submitted here, which is what the rest is for.
    done = play.report()["processes"]["0"]["accounts"][0]["compute_ns"]
    assert iterations * ns(3 * ARRAY, MEMORY) <= done + ns(4 * ARRAY, POPULATE)
    assert ns(3 * ARRAY, MEMORY) / S == pytest.approx(1 / 25.83, rel=1e-3)
    assert play.gpu()["faults"] == 4 * ARRAY  # the first touches


def test_two_programs_that_do_not_fit_together_thrash(play: Play) -> None:
    programs = [play.process(), play.process()]
    for program in programs:
        program.context()
    iterations = run_iterations(play, programs, 600)
    for count in iterations:
        # Measured: 13 to 20 s per iteration, where one alone takes 0.039 s.
        assert 13 <= 600 / count <= 20
    assert play.gpu()["evictions"] > 1000


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
    assert on(queue, play) == pytest.approx(ns(3 * ARRAY, BUS), abs=3 * ARRAY)
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


def test_prefetch_runs_at_the_speed_of_the_bus(play: Play) -> None:
    process = play.process()
    queue = process.queue()
    arrays = [process.range(ARRAY).place(HOST) for _ in range(4)]
    queue.prefetch(*arrays, to=on_gpu(0))
    took = on(queue, play)
    assert took == pytest.approx(ns(4 * ARRAY, BUS), abs=4 * ARRAY)
    assert took / S == pytest.approx(1.05, abs=0.01)  # measured: 12 GB in about 1 s
    assert process.account()["resident_blocks"] == 4 * ARRAY
    queue.prefetch(*arrays, to=HOST)
    assert on(queue, play) == pytest.approx(ns(4 * ARRAY, BUS), abs=4 * ARRAY)
    assert [array.where() for array in arrays] == ["h" * ARRAY] * 4
    gpu = play.gpu()
    assert gpu["in_bytes"] == gpu["out_bytes"] == 4 * ARRAY * BLOCK


def test_prefetch_of_what_is_there_takes_no_time(play: Play) -> None:
    process = play.process()
    queue = process.queue()
    here, nowhere = process.range(100).place(on_gpu(0)), process.range(100)
    queue.prefetch(here, to=on_gpu(0))
    assert on(queue, play) == 0
    queue.prefetch(nowhere, to=HOST)
    assert on(queue, play) == 0
    assert nowhere.where() == "-" * 100
    assert play.gpu()["in_bytes"] == play.gpu()["out_bytes"] == 0


def test_prefetch_onto_a_full_gpu_evicts(play: Play) -> None:
    old, new = play.process(), play.process()
    before = old.range(ROOM).place(on_gpu(0))
    queue, memory = new.queue(), new.range(320).place(HOST)
    queue.prefetch(memory, to=on_gpu(0))
    # Out and in, one after the other.
    assert on(queue, play) == pytest.approx(2 * ns(320, BUS), abs=40)
    assert memory.where() == "0" * 320
    assert before.where() == "h" * 320 + "0" * (ROOM - 320)
    assert play.gpu()["evictions"] == 320


def test_prefetch_onto_a_full_gpu_may_do_nothing(begin: Callable[..., Play]) -> None:
    play = begin(full_prefetch="ignore")
    old, new = play.process(), play.process()
    before = old.range(ROOM - 10).place(on_gpu(0))
    queue, memory = new.queue(), new.range(320).place(HOST)
    queue.prefetch(memory, to=on_gpu(0))
    assert on(queue, play) == pytest.approx(ns(10, BUS), abs=1)
    assert memory.where() == "0" * 10 + "h" * 310
    assert before.where() == "0" * (ROOM - 10)
    assert play.gpu()["evictions"] == 0


def test_prefetches_that_compete_for_the_last_room(begin: Callable[..., Play]) -> None:
    # Both begin while there is room for one. The other must not push anything out, by this setting.
    play = begin(full_prefetch="ignore")
    old, new = play.process(), play.process()
    before = old.range(ROOM - 32).place(on_gpu(0))
    ranges = []
    for _ in range(3):
        ranges.append(new.range(32).place(HOST))
        new.queue().prefetch(ranges[-1], to=on_gpu(0))
    play.advance(S)
    assert sum(memory.where().count("0") for memory in ranges) == 32
    assert before.where() == "0" * (ROOM - 32)


def test_prefetches_that_compete_pay_for_what_they_evict(play: Play) -> None:
    old, new = play.process(), play.process()
    old.range(ROOM - 32).place(on_gpu(0))
    queues = []
    for _ in range(2):
        queues.append(new.queue())
        queues[-1].prefetch(new.range(32).place(HOST), to=on_gpu(0))
    play.advance(S)
    first, second = (queue.finished()[0] for queue in queues)
    assert first == pytest.approx(LAUNCH + 2 * ns(32, BUS), abs=2)
    # Its way in was for nothing; then the way out, and in again.
    assert second == pytest.approx(LAUNCH + 4 * ns(32, BUS), abs=4)
    assert play.gpu()["evictions"] == 32


def test_prefetch_larger_than_the_gpu_ends(play: Play) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(ROOM + 100).place(HOST)
    queue.prefetch(memory, to=on_gpu(0))
    play.advance(100 * S)
    assert len(queue.finished()) == 1
    assert memory.where() == "h" * 100 + "0" * ROOM


def test_prefetch_to_another_gpu(begin: Callable[..., Play]) -> None:
    play = begin("2xt4")
    process = play.process()
    queue, memory = process.queue(gpu=0), process.range(64).place(on_gpu(0))
    queue.prefetch(memory, to=on_gpu(1))
    play.advance(S)
    assert memory.where() == "1" * 64
    first, second = play.report()["gpus"]
    assert (first["in_bytes"], first["out_bytes"]) == (0, 64 * BLOCK)
    assert (second["in_bytes"], second["out_bytes"]) == (64 * BLOCK, 0)
    assert (first["resident_blocks"], second["resident_blocks"]) == (0, 64)


def test_a_kernel_fetches_blocks_from_another_gpu(begin: Callable[..., Play]) -> None:
    play = begin("2xt4")
    process = play.process()
    queue, memory = process.queue(gpu=0), process.range(64).place(on_gpu(1))
    queue.touch(memory)
    assert on(queue, play) == pytest.approx(ns(64, FAULT), abs=64)
    assert memory.where() == "0" * 64


def test_without_any_room_blocks_are_read_where_they_are(play: Play) -> None:
    owner, process = play.process(), play.process()
    owner.plain(play.gpu()["free_bytes"] - BLOCK // 2)
    queue, memory = process.queue(), process.range(100).place(HOST)
    queue.touch(memory)
    assert on(queue, play) == pytest.approx(ns(100, BUS), abs=1)
    queue.prefetch(memory, to=on_gpu(0))
    assert on(queue, play) == 0
    assert memory.where() == "h" * 100


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


def test_a_terabyte_of_managed_memory(begin: Callable[..., Play]) -> None:
    play = begin(usable_bytes=2 * 1024**4)
    process = play.process()
    queue, memory = process.queue(), process.range(1 << 19)
    queue.prefetch(memory, to=on_gpu(0))
    queue.touch(memory)
    play.advance(1000 * S)
    assert queue.finished()[1] == pytest.approx(LAUNCH + ns(1 << 19, MEMORY), abs=2)
    assert play.gpu()["resident_blocks"] == 1 << 19
    queue.prefetch(memory, to=HOST)
    play.advance(1000 * S)
    assert queue.finished()[2] - 1000 * S == pytest.approx(LAUNCH + ns(1 << 19, BUS), abs=1 << 14)
