"""Host pages of managed memory: which process is charged, limits, and a host without free pages."""

import errno
from collections.abc import Callable

import pytest

from .play import BLOCK, HOST, MIB, MS, Part, Play, Process, Queue, S, on_gpu

ROOM = int(14913.6875) * MIB // BLOCK
XID_PAGE_FAULT = 31


def blocks_of(process: Process) -> int:
    return int(process.report()["host_blocks"])


def is_doomed(process: Process) -> bool:
    return bool(process.report()["doomed"])


def prefetch(play: Play, queue: Queue, *parts: Part, to: int) -> int:
    """Prefetch, and return the result of the call."""
    ticket = queue.prefetch(*parts, to=to)
    play.advance(10 * S)
    returned, error = queue.issued(ticket)
    assert returned
    return error


def test_pages_stay_when_a_block_returns_to_the_gpu(play: Play) -> None:
    process = play.process()
    queue, memory = process.queue(), process.range(100).place(on_gpu(0))
    assert blocks_of(process) == 0
    prefetch(play, queue, (memory, 0, 60), to=HOST)
    prefetch(play, queue, memory, to=on_gpu(0))
    assert (memory.where(), blocks_of(process)) == ("0" * 100, 60)
    prefetch(play, queue, (memory, 40, 60), to=HOST)
    assert blocks_of(process) == 100  # all that was ever out
    assert play.report()["host_blocks"] == 100


@pytest.mark.parametrize("end", ["free", "death"])
def test_they_go_with_the_range_or_the_process(play: Play, end: str) -> None:
    process, other = play.process(), play.process()
    memory = process.range(100).place(HOST)
    other.range(10).place(HOST)
    if end == "free":
        memory.free()
        assert blocks_of(process) == 0
    else:
        process.kill()
    assert play.report()["host_blocks"] == 10


def by_prefetch(play: Play, process: Process) -> None:
    prefetch(play, process.queue(), process.range(50).place(HOST), to=on_gpu(0))


def by_fault(play: Play, process: Process) -> None:
    process.queue().touch(process.range(50).place(HOST))
    play.advance(10 * S)


def by_plain_memory(play: Play, process: Process) -> None:
    process.range(50).place(HOST)
    process.plain(play.gpu()["free_bytes"] + 50 * BLOCK)


@pytest.mark.parametrize("push_out", [by_prefetch, by_fault, by_plain_memory])
def test_the_owner_is_charged_whoever_pushes_it_out(
    play: Play, push_out: Callable[[Play, Process], None]
) -> None:
    owner, other = play.process(), play.process()
    owner.range(ROOM).place(on_gpu(0))
    push_out(play, other)
    assert (blocks_of(owner), blocks_of(other)) == (50, 50)


def test_who_exceeds_its_limit_is_killed_and_not_who_pushes(play: Play) -> None:
    owner, other = play.process(), play.process()
    owner.limit(own=50 * BLOCK)
    other.limit(own=50 * BLOCK)
    owner.range(ROOM).place(on_gpu(0))
    by_prefetch(play, other)
    assert not is_doomed(owner)  # exactly at its limit
    prefetch(play, other.queue(), other.range(1), to=on_gpu(0))
    assert is_doomed(owner)
    assert not is_doomed(other)


def test_processes_of_one_cgroup_add_up_with_what_it_really_uses(play: Play) -> None:
    first, second, stranger = (play.process() for _ in range(3))
    for process in (first, second):
        process.limit(cgroup=7, most=100 * BLOCK, used=10 * BLOCK)
    stranger.limit(cgroup=8, most=100 * BLOCK)
    first.range(60).place(HOST)
    second.range(30).place(HOST)
    stranger.range(100).place(HOST)
    assert not any(is_doomed(process) for process in (first, second, stranger))
    second.range(1).place(HOST)
    assert [is_doomed(process) for process in (first, second, stranger)] == [False, True, False]


def test_the_limit_of_ones_own_goes_before_that_of_the_cgroup(play: Play) -> None:
    process = play.process()
    process.limit(own=100 * BLOCK, cgroup=7, most=10 * BLOCK)
    process.range(100).place(HOST)
    assert not is_doomed(process)


def test_a_prefetch_to_a_host_without_memory_fails(begin: Callable[..., Play]) -> None:
    play = begin(host_bytes=60 * BLOCK)
    process = play.process()
    queue, memory = process.queue(), process.range(100).place(on_gpu(0))
    assert prefetch(play, queue, memory, to=HOST) == -errno.ENOSPC
    assert memory.where() == "h" * 60 + "0" * 40
    assert len(queue.finished()) == 1
    # A block that has pages can go out again and again.
    assert prefetch(play, queue, memory, to=on_gpu(0)) == 0
    assert prefetch(play, queue, (memory, 0, 60), to=HOST) == 0


def test_a_prefetch_that_cannot_evict_fails(begin: Callable[..., Play]) -> None:
    play = begin(host_bytes=110 * BLOCK)
    old, new = play.process(), play.process()
    before = old.range(ROOM).place(on_gpu(0))
    queue, memory = new.queue(), new.range(100).place(HOST)
    assert prefetch(play, queue, memory, to=on_gpu(0)) == -errno.ENOSPC
    assert memory.where() == "0" * 10 + "h" * 90
    assert before.where() == "h" * 10 + "0" * (ROOM - 10)
    assert new.plain(100 * BLOCK) == -errno.ENOMEM


def test_a_fault_that_cannot_evict_is_the_end_of_all_that_fault(begin: Callable[..., Play]) -> None:
    play = begin(host_bytes=25 * BLOCK)
    old, first, second, computing = (play.process() for _ in range(4))
    old.range(ROOM).place(on_gpu(0))
    queues = []
    for process in (first, second):
        queues += [process.queue(), process.queue()]
        queues[-2].touch(process.range(10).place(HOST))
        queues[-2].kernel(S)
        queues[-1].kernel(S)
    bystander = computing.queue()
    bystander.kernel(MS)
    play.advance(100 * MS)
    gpu = play.gpu()
    assert (gpu["cancelled"], gpu["xids"], gpu["last_xid"]) == (1, 1, XID_PAGE_FAULT)
    # All streams of both contexts are dead, and their operations end at once.
    assert first.report()["failed"] == second.report()["failed"] == [1, 1]
    assert all(not any(process.report()["pending"]) for process in (first, second))
    assert computing.report()["failed"] == [0]
    assert len(bystander.finished()) == 1
    assert play.difference() is None


def test_a_context_without_a_fault_in_the_batch_lives_on(begin: Callable[..., Play]) -> None:
    play = begin(host_bytes=10 * BLOCK)
    old, process = play.process(), play.process()
    old.range(ROOM).place(on_gpu(0))
    faulting, other = process.queue(context=1), process.queue(context=2)
    faulting.touch(process.range(10).place(HOST))
    other.kernel(MS)
    play.advance(S)
    assert process.report()["failed"] == [1, 0]
    assert len(other.finished()) == 1


def test_nobody_waits_for_copies_of_a_dead_context(begin: Callable[..., Play]) -> None:
    play = begin(host_bytes=200 * BLOCK, h2d_bandwidth=10**8)
    old, process = play.process(), play.process()
    memory = process.range(100).place(HOST)
    old.range(ROOM).place(on_gpu(0))
    faulting, filling, other = process.queue(), process.queue(), process.queue(context=2)
    filling.prefetch(memory, to=on_gpu(0))
    play.advance(100 * MS)  # 100 pushed out, the host is full, and the copies take two seconds
    other.touch(memory)
    faulting.touch(process.range(1))
    play.advance(S)
    assert process.report()["failed"] == [1, 1, 0]
    assert len(other.finished()) == 1
