"""Queues: their capacity, the contents of their rings, and how soon a ticket can be reached."""

from collections.abc import Callable

import pytest

from .play import (
    BLOCK,
    HOST,
    MB,
    MS,
    QUEUE_SLOTS,
    REFERENCE_SLOTS,
    US,
    Play,
    S,
    on_gpu,
)

LAUNCH = 5 * US


def test_tickets_count_from_one(play: Play) -> None:
    process = play.process()
    first, second = process.queue(), process.queue()
    assert [first.marker() for _ in range(3)] == [1, 2, 3]
    assert second.marker() == 1


@pytest.mark.parametrize(("profile", "depth"), [(1, 1), (10, 10), (1024, 1024), (65536, 1024)])
def test_a_queue_is_as_deep_as_the_profile_says(
    begin: Callable[..., Play], profile: int, depth: int
) -> None:
    play = begin(queue_depth=profile)
    queue = play.process().queue()
    for _ in range(depth):
        assert queue.kernel(MS) is not None
    assert not queue.has_room()
    assert queue.kernel(MS) is None
    play.advance(LAUNCH + MS)
    assert queue.has_room()


def test_the_ring_of_operations_goes_round(play: Play) -> None:
    queue = play.process().queue()
    total = 3 * QUEUE_SLOTS + 17
    submitted = 0
    while submitted < total:
        while submitted < total and queue.kernel(US) is not None:
            submitted += 1
        play.advance(100 * US)
    play.advance(S)
    ends = queue.finished()
    assert len(ends) == total
    assert ends == sorted(ends)
    # It never ran dry, so it took as long as all its operations.
    assert ends[-1] == LAUNCH + total * US


def test_the_ring_of_references_goes_round(play: Play) -> None:
    process = play.process()
    queue = process.queue()
    ranges = [process.range(1).place(HOST) for _ in range(60)]
    rounds = 0
    for rounds in range(1, 3 * REFERENCE_SLOTS // 60):
        chosen = ranges[rounds % 20 : rounds % 20 + 7 + rounds % 33]
        assert queue.prefetch(*chosen, to=on_gpu(0) if rounds % 2 else HOST)
        if rounds % 5 == 0:
            play.advance(S)
            inside = chosen[0].where()
            assert {memory.where() for memory in chosen} == {inside}
            assert inside == ("0" if rounds % 2 else "h")
    play.advance(S)
    assert len(queue.finished()) == rounds


def test_references_wait_for_room(play: Play) -> None:
    process = play.process()
    queue = process.queue()
    memory = process.range(1).place(on_gpu(0))
    assert queue.touch(*[memory] * (REFERENCE_SLOTS - 10)) == 1
    assert queue.has_room(10)
    assert not queue.has_room(11)
    assert queue.touch(*[memory] * 11) is None
    assert queue.touch(*[memory] * 10) == 2
    assert queue.has_room(0)
    assert not queue.has_room(1)
    play.advance(S)
    assert queue.touch(*[memory] * REFERENCE_SLOTS) == 3
    play.advance(S)
    assert len(queue.finished()) == 3


def test_soonest_is_exact_for_one_who_is_alone(play: Play) -> None:
    queue = play.process().queue()
    ticket = queue.kernel(MS)
    assert queue.soonest(ticket) == LAUNCH + MS
    queue.copy_in(12 * MB)
    queue.copy_out(12 * MB)
    queue.marker()
    assert queue.soonest(4) == LAUNCH + 3 * MS
    play.advance(LAUNCH + MS + MS // 2)
    assert queue.soonest(4) == MS + MS // 2
    play.advance(queue.soonest(4))
    assert len(queue.finished()) == 4
    assert queue.soonest(4) == 0


def test_soonest_is_never_too_late(play: Play) -> None:
    processes = [play.process() for _ in range(3)]
    queues = [process.queue() for process in processes]
    for process, queue in zip(processes, queues, strict=True):
        queue.kernel(3 * MS)
        queue.touch(process.range(10).place(HOST))
        queue.copy_in(5 * BLOCK)
        queue.prefetch(process.range(40).place(HOST), to=on_gpu(0))
        queue.kernel(MS)
    guesses: list[tuple[int, int]] = []
    while any(len(queue.finished()) < 5 for queue in queues):
        guesses += [(i, play.now + queue.soonest(5)) for i, queue in enumerate(queues)]
        play.advance(777 * US)
    for i, guess in guesses:
        assert guess <= max(queues[i].finished()[-1], play.now)
        assert guess <= queues[i].finished()[-1] or guess % (777 * US) == 0


def test_a_queue_that_is_used_again_counts_on(play: Play) -> None:
    process = play.process()
    queue = process.queue()
    queue.kernel(MS)
    play.advance(S)
    process.kill()
    newcomer = play.process().queue()
    ticket = newcomer.kernel(MS)
    play.advance(S)
    assert newcomer.spans() == [(S + LAUNCH, S + LAUNCH + MS)]
    assert ticket == 2  # a ticket of the dead is reached for all times
