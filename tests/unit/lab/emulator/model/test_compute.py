"""The compute engine: which context is on it, for how long, and the cost of a change."""

from collections.abc import Callable

import pytest

from .play import MS, US, Play, S

LAUNCH = 5 * US
SLICE = 2 * MS
SWITCH = 214 * US  # 10.7 % of a slice


def test_a_kernel_alone_takes_its_time(play: Play) -> None:
    queue = play.process().queue()
    queue.kernel(10 * MS)
    play.advance(S)
    assert queue.spans() == [(LAUNCH, LAUNCH + 10 * MS)]


def test_the_model_knows_no_least_duration(play: Play) -> None:
    # The floor of the profile is for callers that compute the cost of a kernel.
    queue = play.process().queue()
    queue.kernel(1)
    queue.kernel(0)
    play.advance(S)
    assert queue.finished() == [LAUNCH + 1, LAUNCH + 1]


def test_a_deep_queue_hides_the_latency_of_launches(play: Play) -> None:
    queue = play.process().queue()
    for _ in range(100):
        queue.kernel(20 * US)
    play.advance(S)
    assert queue.finished() == [LAUNCH + 20 * US * (i + 1) for i in range(100)]


def test_a_shallow_queue_does_not(play: Play) -> None:
    queue = play.process().queue()
    for _ in range(10):
        queue.kernel(20 * US)
        play.advance(LAUNCH + 20 * US)
    assert queue.finished() == [25 * US * (i + 1) for i in range(10)]


def test_two_contexts_take_turns(play: Play) -> None:
    first, second = play.process().queue(), play.process().queue()
    first.kernel(5 * MS)
    second.kernel(3 * MS)
    play.advance(S)
    # 2 of the first, 2 of the second, 2 of the first, the last 1 of the second, of the first.
    assert second.finished() == [LAUNCH + 7 * MS + 3 * SWITCH]
    assert first.finished() == [LAUNCH + 8 * MS + 4 * SWITCH]
    assert play.gpu()["switches"] == 4


@pytest.mark.parametrize("programs", [2, 3, 5])
def test_sharing_costs_what_the_profile_says(play: Play, programs: int) -> None:
    queues = [play.process().queue() for _ in range(programs)]
    for queue in queues:
        queue.kernel(2 * S)
    play.advance(30 * S)
    alone = programs * 2 * S
    slices = programs * 1000
    ends = [queue.finished()[0] for queue in queues]
    # The last round is over when each has had its last slice, one after the other.
    assert ends[-1] == LAUNCH + alone + (slices - 1) * SWITCH
    assert ends == [ends[-1] - i * (SLICE + SWITCH) for i in reversed(range(programs))]
    assert ends[-1] / alone == pytest.approx(1.107, rel=1e-3)


def test_two_contexts_of_one_process_take_turns_too(play: Play) -> None:
    process = play.process()
    first, second = process.queue(context=1), process.queue(context=2)
    first.kernel(4 * MS)
    second.kernel(4 * MS)
    play.advance(S)
    assert first.finished() == [LAUNCH + 6 * MS + 2 * SWITCH]
    assert second.finished() == [LAUNCH + 8 * MS + 3 * SWITCH]


def test_queues_of_one_context_never_switch(play: Play) -> None:
    process = play.process()
    queues = [process.queue() for _ in range(3)]
    for queue in queues:
        queue.kernel(10 * MS)
    play.advance(S)
    assert [queue.finished()[0] for queue in queues] == [LAUNCH + 10 * MS * i for i in (1, 2, 3)]
    assert play.gpu()["switches"] == 0


def test_a_context_without_work_gives_the_engine_at_once(play: Play) -> None:
    short, long = play.process().queue(), play.process().queue()
    short.kernel(MS // 2)
    long.kernel(10 * MS)
    play.advance(S)
    assert short.finished() == [LAUNCH + MS // 2]
    assert long.finished() == [LAUNCH + MS // 2 + SWITCH + 10 * MS]


def test_a_context_alone_is_on_the_engine_without_switching(play: Play) -> None:
    first, second = play.process().queue(), play.process().queue()
    first.kernel(10 * MS)
    play.advance(S)
    second.kernel(10 * MS)
    play.advance(S)
    first.kernel(10 * MS)
    play.advance(S)
    # It changes only when another context comes, not by the clock.
    assert play.gpu()["switches"] == 2
    assert second.finished() == [S + LAUNCH + SWITCH + 10 * MS]
    assert first.finished()[1] == 2 * S + LAUNCH + SWITCH + 10 * MS


@pytest.mark.parametrize("steps", [1, 7, 100])
def test_a_newcomer_waits_for_the_end_of_the_slice(play: Play, steps: int) -> None:
    old, new = play.process().queue(), play.process().queue()
    old.kernel(100 * MS)
    for _ in range(steps):
        play.advance(10_500 * US // steps)
    play.advance_to(10_500 * US)
    new.kernel(MS)
    play.advance(S)
    # Slices of 2 ms have ended since 5 us: the one that 10.505 ms falls into ends at 12.005 ms.
    assert new.finished() == [LAUNCH + 12 * MS + SWITCH + MS]


def test_the_higher_priority_goes_first(play: Play) -> None:
    process = play.process()
    low, high, middle = (process.queue(priority=p) for p in (0, -5, -1))
    for queue in (low, middle, high):
        queue.kernel(10 * MS)
    play.advance(4 * MS)
    high.kernel(10 * MS)  # comes late and still goes before all others
    play.advance(S)
    assert high.finished() == [LAUNCH + 10 * MS, LAUNCH + 20 * MS]
    assert middle.finished() == [LAUNCH + 30 * MS]
    assert low.finished() == [LAUNCH + 40 * MS]


def test_priority_holds_within_a_context_only(play: Play) -> None:
    high, low = play.process().queue(priority=-5), play.process().queue(priority=0)
    high.kernel(4 * MS)
    low.kernel(4 * MS)
    play.advance(S)
    assert high.finished() == [LAUNCH + 6 * MS + 2 * SWITCH]
    assert low.finished() == [LAUNCH + 8 * MS + 3 * SWITCH]


def test_nobody_starves_in_the_round(play: Play) -> None:
    # A queue that is always ready and one that comes back after every kernel, around a third.
    greedy, patient, quick = (play.process().queue() for _ in range(3))
    greedy.kernel(S)
    patient.kernel(20 * MS)
    for _ in range(300):
        quick.kernel(100 * US)
        play.advance(MS)
    # The patient one gets at least every third slice.
    assert patient.finished()[0] < 10 * (3 * SLICE + 3 * SWITCH)
    assert len(quick.finished()) > 40


def test_work_of_the_dead_leaves_the_engine_to_others(play: Play) -> None:
    dying = play.process()
    queue = play.process().queue()
    dying.queue().kernel(S)
    queue.kernel(10 * MS)
    play.advance(5 * US + 1 * MS)
    dying.kill()
    play.advance(S)
    assert queue.finished() == [LAUNCH + MS + SWITCH + 10 * MS]


def test_a_switch_that_nobody_needs_any_more_costs_nobody_anything(play: Play) -> None:
    first, dying = play.process().queue(), play.process()
    first.kernel(MS)
    dying.queue().kernel(MS)
    play.advance(LAUNCH + MS + SWITCH // 2)
    dying.kill()
    play.advance(S)
    now = play.now
    play.process().queue().kernel(MS)
    third = play.process().queue()
    third.kernel(MS)
    play.advance(S)
    assert third.finished() == [now + LAUNCH + MS + SWITCH + MS]


@pytest.mark.parametrize("switch", [0, 1, SLICE])
def test_any_cost_of_switching(begin: Callable[..., Play], switch: int) -> None:
    play = begin(switch_ns=switch)
    first, second = play.process().queue(), play.process().queue()
    first.kernel(4 * MS)
    second.kernel(4 * MS)
    play.advance(S)
    assert second.finished() == [LAUNCH + 8 * MS + 3 * switch]


def test_accounts_tell_who_computed(play: Play) -> None:
    first, second = play.process(), play.process()
    first.queue().kernel(5 * MS)
    second.queue().kernel(3 * MS)
    second.queue().kernel(1 * MS)
    play.advance(S)
    assert (first.account()["compute_ns"], first.account()["kernels"]) == (5 * MS, 1)
    assert (second.account()["compute_ns"], second.account()["kernels"]) == (4 * MS, 2)
    gpu = play.gpu()
    assert gpu["busy_total_ns"] == 9 * MS + gpu["switches"] * SWITCH
