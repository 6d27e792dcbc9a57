"""The engine: copies on the bus, the order of queues, and clocks of several GPUs."""

from collections.abc import Callable
from itertools import permutations

import pytest

from .play import GB, KB, MB, MS, US, Play, Queue, S

LAUNCH = 5 * US
RATE = 12  # bytes per ns, either way
BOTH_WAYS = RATE * 1.8 / 2


def duration(size: int, rate: float) -> int:
    return -int(-size // rate)


def test_a_copy_takes_the_bus_its_time(play: Play) -> None:
    queue = play.process().queue()
    queue.copy_in(12 * GB)
    queue.copy_out(6 * GB)
    play.advance(2 * S)
    assert queue.finished() == [LAUNCH + S, LAUNCH + S + S // 2]


def test_copies_of_one_direction_share_it(play: Play) -> None:
    large, small = play.process().queue(), play.process().queue()
    large.copy_in(36 * MB)
    small.copy_in(12 * MB)
    play.advance(S)
    assert small.finished() == [LAUNCH + 2 * MS]
    assert large.finished() == [LAUNCH + 4 * MS]


def test_five_copies_share_a_direction(play: Play) -> None:
    queues = [play.process().queue() for _ in range(5)]
    for queue in queues:
        queue.copy_out(12 * MB)
    play.advance(S)
    for queue in queues:
        assert queue.finished()[0] == pytest.approx(LAUNCH + 5 * MS, abs=1)


def test_both_directions_together_are_slower_than_one(play: Play) -> None:
    into, out = play.process().queue(), play.process().queue()
    into.copy_in(1080 * MB)
    out.copy_out(2280 * MB)
    play.advance(S)
    assert into.finished() == [LAUNCH + duration(1080 * MB, BOTH_WAYS)] == [LAUNCH + 100 * MS]
    # Half of the way at 10.8, the other half alone at 12 bytes per ns.
    assert out.finished() == [LAUNCH + 200 * MS]


def test_a_copy_and_a_kernel_do_not_disturb_each_other(play: Play) -> None:
    process = play.process()
    copying, computing = process.queue(), process.queue()
    copying.copy_in(120 * MB)
    computing.kernel(10 * MS)
    play.advance(S)
    assert copying.finished() == computing.finished() == [LAUNCH + 10 * MS]


def test_bytes_of_copies_are_counted(play: Play) -> None:
    process = play.process()
    queue = process.queue()
    queue.copy_in(100 * KB)
    queue.copy_out(300 * KB)
    play.advance(S)
    for counts in (play.gpu(), process.account()):
        assert (counts["in_bytes"], counts["out_bytes"]) == (100 * KB, 300 * KB)
    assert process.account()["kernels"] == 0


def test_operations_of_a_queue_follow_each_other(play: Play) -> None:
    queue = play.process().queue()
    queue.copy_in(12 * MB)
    queue.kernel(MS)
    queue.copy_out(12 * MB)
    play.advance(S)
    assert queue.finished() == [LAUNCH + MS, LAUNCH + 2 * MS, LAUNCH + 3 * MS]


def test_a_marker_has_the_time_of_what_came_before(play: Play) -> None:
    queue = play.process().queue()
    queue.marker()
    queue.kernel(MS)
    queue.marker()
    queue.marker()
    play.advance(10 * MS)
    queue.marker()
    play.advance(MS)
    after = LAUNCH + MS
    assert queue.finished() == [0, after, after, after, 10 * MS]


def test_a_wait_lasts_until_the_other_has_come_there(play: Play) -> None:
    process = play.process()
    first, second = process.queue(), process.queue()
    first.kernel(3 * MS)
    ticket = first.kernel(4 * MS)
    first.kernel(5 * MS)
    second.wait(first, ticket)
    second.copy_in(12 * MB)
    play.advance(S)
    assert second.finished() == [LAUNCH + 7 * MS, LAUNCH + 8 * MS]


def test_a_wait_for_the_past_takes_no_time(play: Play) -> None:
    process = play.process()
    first, second = process.queue(), process.queue()
    ticket = first.kernel(MS)
    play.advance(S)
    second.wait(first, ticket)
    second.wait(first, 0)
    play.advance(1)
    assert second.finished() == [S, S]


def test_chains_of_waits_take_no_time(play: Play) -> None:
    process = play.process()
    queues = [process.queue() for _ in range(50)]
    # The last one waits for none; every other for the next one.
    tickets = [0] * len(queues)
    for i in reversed(range(len(queues) - 1)):
        queues[i].wait(queues[i + 1], 1)
        tickets[i] = queues[i].marker()
    queues[-1].kernel(MS)
    play.advance(S)
    assert all(queue.finished()[-1] == LAUNCH + MS for queue in queues)


def test_waits_in_a_circle_wait_for_ever_and_harm_nobody(play: Play) -> None:
    process = play.process()
    first, second, free = (process.queue() for _ in range(3))
    first.wait(second, 1)
    second.wait(first, 1)
    free.kernel(MS)
    play.advance(1000 * S)
    assert (first.finished(), second.finished(), free.finished()) == ([], [], [LAUNCH + MS])
    process.kill()
    assert play.gpu()["active"] == 0


def test_a_host_function_blocks_its_queue_only(play: Play) -> None:
    process = play.process()
    blocked, free = process.queue(), process.queue()
    blocked.kernel(MS)
    blocked.host()
    blocked.kernel(MS)
    free.kernel(MS)
    assert not blocked.host_done()  # its turn comes after the kernel
    play.advance(10 * MS)
    assert free.finished() == [LAUNCH + 2 * MS]
    assert len(blocked.finished()) == 1
    assert blocked.host_done()
    play.advance(10 * MS)
    assert blocked.finished() == [LAUNCH + MS, 10 * MS, 11 * MS]


def test_gpus_do_not_share_engines(begin: Callable[..., Play]) -> None:
    play = begin("2xt4")
    queues = [play.process().queue(gpu) for gpu in (0, 1)]
    for queue in queues:
        queue.kernel(10 * MS)
        queue.copy_in(12 * MB)
    play.advance(S)
    for queue in queues:
        assert queue.finished() == [LAUNCH + 10 * MS, LAUNCH + 11 * MS]


def test_a_wait_for_another_gpu_ends_at_the_same_instant(begin: Callable[..., Play]) -> None:
    play = begin("2xt4")
    process = play.process()
    first, second = process.queue(gpu=0), process.queue(gpu=1)
    ticket = first.kernel(1_234_567)
    second.wait(first, ticket)
    second.kernel(MS)
    first.wait(second, second.marker())
    play.advance(S)
    assert first.finished() == [LAUNCH + 1_234_567, LAUNCH + 2_234_567]
    assert second.finished()[:2] == [LAUNCH + 1_234_567, LAUNCH + 2_234_567]
    assert play.report()["waits_across"] == 0


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_chains_of_waits_across_gpus_take_no_time(
    begin: Callable[..., Play], order: tuple[int, ...]
) -> None:
    play = begin("4xt4")
    process = play.process()
    queues = [process.queue(gpu) for gpu in order]
    for queue, predecessor in zip(queues[1:], queues, strict=False):
        queue.wait(predecessor, 1)
    queues[0].kernel(MS)
    play.advance(S)
    assert [queue.finished() for queue in queues] == [[LAUNCH + MS]] * 4


def test_two_waiting_gpus_and_a_busy_one(begin: Callable[..., Play]) -> None:
    play = begin("3xt4")
    process, other = play.process(), play.process()
    first, second = process.queue(gpu=0), process.queue(gpu=1)
    bystander = other.queue(gpu=2)
    for _ in range(5):
        bystander.kernel(777 * US)
    for _ in range(5):
        second.wait(first, first.kernel(MS))
        first.wait(second, second.kernel(MS))
    play.advance(S)
    assert first.finished()[-1] == second.finished()[-1] == LAUNCH + 10 * MS
    assert bystander.finished() == [LAUNCH + 777 * US * i for i in range(1, 6)]


def test_a_queue_may_serve_another_gpu_while_it_is_waited_for(begin: Callable[..., Play]) -> None:
    play = begin("2xt4")
    process = play.process()
    first, second = process.queue(gpu=0), process.queue(gpu=1)
    ticket = second.marker()
    play.advance(MS)
    first.host()
    first.wait(second, ticket)  # across, when it was submitted
    play.ask("queue", process.number, second.number, 0, 1, 0)
    assert play.difference() is None
    play.advance(MS)
    first.host_done()
    play.advance(MS)
    assert play.report()["waits_across"] == 0
    assert play.difference() is None


def test_zero_time_operations_end_and_take_no_time(play: Play) -> None:
    process = play.process()
    queue, other = process.queue(), process.queue()
    for _ in range(300):
        queue.kernel(0)
        queue.copy_in(0)
        other.wait(queue, queue.marker())
    play.advance(S)
    assert set(queue.finished()[1:]) == {LAUNCH}
    assert set(other.finished()) == {LAUNCH}


def test_time_does_not_go_back(play: Play) -> None:
    queue = play.process().queue()
    queue.kernel(MS)
    play.advance_to(S)
    play.ask("advance", S)
    play.ask("advance", S - MS)
    assert play.gpu()["clock"] == S


def test_a_year_in_one_step(play: Play) -> None:
    queues = [play.process().queue() for _ in range(2)]
    year = 365 * 24 * 3600 * S
    queues[0].kernel(year)
    queues[1].copy_in(year)
    play.advance(2 * year)
    assert queues[0].finished() == [LAUNCH + year]
    assert queues[1].finished()[0] == pytest.approx(LAUNCH + year // RATE, abs=1)


def test_every_queue_of_a_process_at_once(play: Play) -> None:
    process = play.process()
    queues = [process.queue() for _ in range(128)]
    for queue in queues:
        queue.kernel(MS)
    play.advance(S)
    assert sorted(queue.finished()[0] for queue in queues) == [
        LAUNCH + MS * i for i in range(1, 129)
    ]


def test_many_processes_with_many_queues(play: Play) -> None:
    queues: list[Queue] = []
    for _ in range(40):
        process = play.process()
        queues += [process.queue() for _ in range(5)]
    for queue in queues:
        queue.kernel(100 * US)
    play.advance(S)
    assert all(len(queue.finished()) == 1 for queue in queues)
    # A context's kernels fit in one slice, so each context comes once.
    assert play.gpu()["switches"] == 39
