"""Prefetches: the work of the calling thread and of the GPU, and when the call returns.

Every rule here is one of the published driver's; lab/emulator/model/migrate.c names them. The
costs are those of the T4's profile.
"""

import errno
from collections.abc import Callable

import pytest

from .play import BLOCK, GB, HOST, MIB, MS, US, Play, Process, Queue, Range, S, on_gpu

LAUNCH = 5 * US
ARRAY = 2992 * MIB // BLOCK  # blocks of one array of pytorch-add; four are alive
ROOM = int(14913.6875) * MIB // BLOCK  # blocks that an empty T4 can hold
BUS = 12 * GB
BOTH_WAYS = BUS * 0.9  # each direction, while both are busy
PAGE, MAP, UNMAP, SERVICE, EVICT = 60 * US, 60 * US, 15 * US, US, 5 * US
ZERO = BLOCK * 1e9 / (7.7 * GB)


def ns(blocks: float, rate: float = BUS) -> float:
    return blocks * BLOCK * 1e9 / rate


def returned(play: Play, queue: Queue, ticket: int, limit: int = 10 * S) -> int:
    """Let time pass until the call returns; return how long that took."""
    before, low, high = play.now, play.now, play.now + limit
    step = 1 * US if limit < MS else 50 * US
    while not queue.issued(ticket)[0]:
        low = play.now
        play.advance(step)
        assert play.now < high
    return (low + play.now) // 2 - before - LAUNCH


def took(play: Play, queue: Queue, limit: int = 100 * S) -> int:
    """Wait for the newest operation of a queue; return how long it took."""
    before = play.now
    play.advance(limit)
    return queue.finished()[-1] - before - LAUNCH


def test_to_the_gpu_the_call_returns_when_the_copies_are_queued(play: Play) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(320).place(HOST)
    ticket = queue.prefetch(memory, to=on_gpu(0))
    assert queue.issued(ticket) == (False, 0)
    # Unmapping from the CPU is the thread's work, the copies are not.
    assert returned(play, queue, ticket) == pytest.approx(320 * (SERVICE + UNMAP), abs=50 * US)
    assert queue.finished() == []
    assert memory.pages() == "p" * 320
    play.advance(S)
    assert queue.finished()[0] - LAUNCH == pytest.approx(ns(320), abs=50 * US)


def test_what_is_not_mapped_on_the_cpu_need_not_be_unmapped(play: Play) -> None:
    process, other = play.process(), play.process()
    memory = process.range(100).place(on_gpu(0))
    other.range(ROOM).place(on_gpu(0))
    assert memory.where() == "h" * 100  # pushed out
    assert memory.pages() == "p" * 100
    other.kill()
    queue = process.queue()
    ticket = queue.prefetch(memory, to=on_gpu(0))
    assert returned(play, queue, ticket) == pytest.approx(100 * SERVICE, abs=50 * US)


def test_12_gb_come_at_the_speed_of_the_bus(play: Play) -> None:
    process = play.process()
    queue = process.queue()
    arrays = [process.range(ARRAY).place(HOST) for _ in range(4)]
    queue.prefetch(*arrays, to=on_gpu(0))
    seconds = took(play, queue) / S
    assert seconds == pytest.approx(ns(4 * ARRAY) / S, rel=1e-3)
    assert seconds == pytest.approx(1.05, abs=0.01)  # measured: 12 GB in about 1 s
    assert process.account()["resident_blocks"] == 4 * ARRAY
    assert play.gpu()["in_bytes"] == 4 * ARRAY * BLOCK


def test_of_what_is_there_only_the_service_takes_time(play: Play) -> None:
    process = play.process()
    queue, here = process.queue(), process.range(100).place(on_gpu(0))
    queue.prefetch(here, to=on_gpu(0))
    assert took(play, queue) == 100 * SERVICE
    assert play.gpu()["in_bytes"] == 0


def test_to_the_cpu_the_call_returns_when_all_is_there_and_mapped(play: Play) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(320).place(on_gpu(0))
    ticket = queue.prefetch(memory, to=HOST)
    while not queue.finished():
        assert queue.issued(ticket) == (False, 0)
        play.advance(100 * US)
    assert queue.issued(ticket) == (True, 0)
    assert memory.pages() == "m" * 320
    # Pages are allocated while the first copies go on, and all but the last are mapped meanwhile.
    whole = SERVICE + PAGE + ns(320) + MAP
    assert queue.finished()[0] - LAUNCH == pytest.approx(whole, abs=10 * US)


def test_one_block_to_the_cpu_costs_each_step_in_full(play: Play) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(1).place(on_gpu(0))
    queue.prefetch(memory, to=HOST)
    assert took(play, queue) == pytest.approx(SERVICE + PAGE + ns(1) + MAP, abs=2)
    # The second time, its pages are there already.
    queue.prefetch(memory, to=on_gpu(0))
    took(play, queue)
    queue.prefetch(memory, to=HOST)
    assert took(play, queue) == pytest.approx(SERVICE + ns(1) + MAP, abs=2)


def test_the_thread_may_be_slower_than_the_bus(begin: Callable[..., Play]) -> None:
    play = begin(host_page_ns=MS, host_map_ns=MS)
    process = play.process()
    queue, memory = process.queue(), process.range(100).place(on_gpu(0))
    queue.prefetch(memory, to=HOST)
    assert took(play, queue) == pytest.approx(100 * (SERVICE + MS) + 100 * MS, rel=1e-3)
    queue.prefetch(memory, to=on_gpu(0))
    took(play, queue)
    queue.prefetch(memory, to=HOST)
    assert took(play, queue) == pytest.approx(ns(1) + 100 * MS, rel=1e-2)


def test_what_nobody_has_touched_is_made_on_the_cpu(play: Play) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(100)
    queue.prefetch(memory, to=HOST)
    assert took(play, queue) == pytest.approx(100 * (SERVICE + PAGE + ZERO + MAP), rel=1e-3)
    assert (memory.where(), memory.pages()) == ("h" * 100, "m" * 100)
    assert process.report()["host_blocks"] == 100
    assert play.gpu()["out_bytes"] == 0


def test_what_nobody_has_touched_is_made_on_the_gpu(play: Play) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(100)
    queue.prefetch(memory, to=on_gpu(0))
    assert took(play, queue) == 100 * SERVICE
    assert memory.where() == "0" * 100
    assert play.gpu()["in_bytes"] == 0


def test_in_a_busy_stream_the_call_returns_at_once(play: Play) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(320).place(on_gpu(0))
    queue.kernel(100 * MS)
    ticket = queue.prefetch(memory, to=HOST)
    assert queue.issued(ticket) == (True, 0)
    play.advance(99 * MS)
    assert memory.where() == "0" * 320  # it waits for its place in the stream all the same
    play.advance(S)
    assert queue.finished()[1] == pytest.approx(
        LAUNCH + 100 * MS + SERVICE + PAGE + ns(320) + MAP, abs=10 * US
    )


def test_onto_a_full_gpu_it_evicts(play: Play) -> None:
    old, new = play.process(), play.process()
    before = old.range(ROOM).place(on_gpu(0))
    queue, memory = new.queue(), new.range(320).place(HOST)
    ticket = queue.prefetch(memory, to=on_gpu(0))
    # The thread finds victims and their pages; it does not wait for copies.
    thread = 320 * (SERVICE + UNMAP + EVICT + PAGE)
    assert returned(play, queue, ticket) == pytest.approx(thread, abs=50 * US)
    assert not queue.finished()
    play.advance(S)
    # Each block comes in after another has gone out by the same chunk: both directions at once.
    whole = queue.finished()[0] - LAUNCH
    assert whole == pytest.approx(ns(320, BOTH_WAYS), rel=0.01)
    assert whole > ns(320, BOTH_WAYS) + ns(1)
    assert memory.where() == "0" * 320
    assert before.where() == "h" * 320 + "0" * (ROOM - 320)
    assert before.pages() == "p" * 320 + "-" * (ROOM - 320)  # not mapped
    gpu = play.gpu()
    assert (gpu["evictions"], gpu["out_bytes"], gpu["in_bytes"]) == (320, 320 * BLOCK, 320 * BLOCK)


def test_who_gets_a_chunk_waits_until_it_has_been_copied_out(begin: Callable[..., Play]) -> None:
    # Out is ten times as slow as in: a fill cannot be faster than the memory that leaves.
    play = begin(d2h_bandwidth=12 * GB // 10)
    old, new, plain = play.process(), play.process(), play.process()
    before = old.range(100).place(on_gpu(0))
    gpu = play.gpu()
    plain.plain(gpu["free_bytes"] + gpu["surplus"] * BLOCK)
    out, into = old.queue(), new.queue()
    out.prefetch(before, to=HOST)
    play.advance(10 * MS)
    assert before.where() == "h" * 100  # all of it is queued
    memory = new.range(100).place(HOST)
    into.prefetch(memory, to=on_gpu(0))
    play.advance(S)
    assert play.gpu()["evictions"] == 0
    assert into.finished()[0] > LAUNCH + ns(100, BUS / 10)


def test_it_fails_only_if_nothing_can_be_evicted(play: Play) -> None:
    owner, process = play.process(), play.process()
    owner.plain(play.gpu()["free_bytes"])
    queue, memory = process.queue(), process.range(100).place(HOST)
    ticket = queue.prefetch(memory, to=on_gpu(0))
    play.advance(S)
    assert queue.issued(ticket) == (True, -errno.ENOMEM)
    assert len(queue.finished()) == 1
    assert memory.where() == "h" * 100


def test_a_range_larger_than_the_gpu_moves_about_twice(play: Play) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(ROOM + 100).place(HOST)
    queue.prefetch(memory, to=on_gpu(0))
    play.advance(100 * S)
    assert len(queue.finished()) == 1
    assert memory.where().count("0") == ROOM
    assert play.gpu()["in_bytes"] / BLOCK == pytest.approx(2 * ROOM, rel=0.02)


def test_a_single_block_has_one_pass(play: Play) -> None:
    process, other = play.process(), play.process()
    other.plain(play.gpu()["free_bytes"] - BLOCK)
    queue, memory = process.queue(), process.range(1).place(HOST)
    queue.prefetch(memory, to=on_gpu(0))
    assert took(play, queue) == pytest.approx(SERVICE + UNMAP + ns(1), abs=2)


def test_prefetches_of_two_programs_share_the_bus(play: Play) -> None:
    queues = []
    for _ in range(2):
        process = play.process()
        queues.append(process.queue())
        queues[-1].prefetch(process.range(320).place(HOST), to=on_gpu(0))
    play.advance(S)
    for queue in queues:
        assert queue.finished()[0] == pytest.approx(LAUNCH + ns(640), rel=0.01)


def test_moving_out_and_filling_go_on_together(play: Play) -> None:
    # A change of turn: one program moves out, the other fills the chunks that come free.
    old, new, plain = play.process(), play.process(), play.process()
    before = old.range(1000).place(on_gpu(0))
    gpu = play.gpu()
    plain.plain(gpu["free_bytes"] + gpu["surplus"] * BLOCK)
    memory = new.range(1000).place(HOST)
    out, into = old.queue(), new.queue()
    out.prefetch(before, to=HOST)
    play.advance(2 * MS)
    for first in range(0, 1000, 100):  # as fast as there is room
        while play.gpu()["chunks"] - play.gpu()["resident_blocks"] < 100:
            play.advance(MS)
        into.prefetch((memory, first, 100), to=on_gpu(0))
    play.advance(10 * S)
    assert memory.where() == "0" * 1000
    assert play.gpu()["evictions"] == 0
    last = max(into.finished()[-1], out.finished()[-1])
    assert last == pytest.approx(ns(1000, BOTH_WAYS), rel=0.1)


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
    assert play.report()["waits_across"] == 0


def test_to_the_host_from_another_gpu(begin: Callable[..., Play]) -> None:
    play = begin("2xt4")
    process = play.process()
    queue, memory = process.queue(gpu=0), process.range(64).place(on_gpu(1))
    queue.prefetch(memory, to=HOST)
    play.advance(S)
    assert memory.where() == "h" * 64
    assert queue.finished()[0] - LAUNCH == pytest.approx(SERVICE + PAGE + ns(64) + MAP, abs=10 * US)


def test_copies_of_the_dead_go_on(play: Play) -> None:
    process = play.process()
    process.queue().prefetch(process.range(320).place(on_gpu(0)), to=HOST)
    play.advance(30 * MS)
    process.kill()
    assert play.gpu()["out_left"] > 0
    play.advance(S)
    assert (play.gpu()["out_left"], play.gpu()["chunks"]) == (0, 0)


def send_back(process: Process, memory: Range) -> None:
    process.queue().prefetch(memory, to=HOST)


def free(process: Process, memory: Range) -> None:
    del process
    memory.free()


@pytest.mark.parametrize("meanwhile", [send_back, free])
def test_what_happens_to_memory_that_is_on_its_way(
    play: Play, meanwhile: Callable[[Process, Range], None]
) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(320).place(HOST)
    queue.prefetch(memory, to=on_gpu(0))
    play.advance(20 * MS)
    meanwhile(process, memory)
    play.advance(10 * S)
    assert len(queue.finished()) == 1
    assert play.difference() is None
