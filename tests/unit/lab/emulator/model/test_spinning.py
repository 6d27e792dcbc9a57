"""Kernels that spin until memory changes: on the engine until their process ends them."""

from collections.abc import Callable

from .play import MB, MS, US, Play, S

LAUNCH = 5 * US
SWITCH = 214 * US


def test_a_kernel_spins_until_it_is_told(play: Play) -> None:
    process = play.process()
    queue = process.queue()
    queue.spin()
    play.advance(10 * S)
    assert queue.spans() == []
    assert queue.host_done()
    play.advance(S)
    assert queue.spans() == [(LAUNCH, 10 * S)]
    # It has occupied the engine all the time.
    assert process.account()["compute_ns"] == 10 * S - LAUNCH
    assert process.account()["kernels"] == 1


def test_what_comes_behind_it_in_its_stream_waits(play: Play) -> None:
    queue = play.process().queue()
    queue.spin()
    queue.kernel(MS)
    play.advance(S)
    assert queue.host_done()
    play.advance(S)
    assert queue.finished() == [S, S + MS]


def test_a_spinning_kernel_shares_the_engine_with_other_contexts(play: Play) -> None:
    spinner, other = play.process().queue(), play.process().queue()
    spinner.spin()
    other.kernel(100 * MS)
    play.advance(S)
    # Half of the engine, and every change of context has its usual cost.
    (finished,) = other.finished()
    assert abs(finished - 200 * MS * 1.107) < 5 * MS
    assert play.gpu()["switches"] >= 98


def test_other_kernels_of_its_context_run_beside_it(play: Play) -> None:
    process = play.process()
    spinner, other = process.queue(), process.queue()
    spinner.spin()
    play.advance(S)
    other.kernel(10 * MS)
    play.advance(S)
    assert other.finished() == [S + LAUNCH + 10 * MS]
    assert spinner.host_done()
    play.advance(1)
    assert spinner.finished() == [2 * S]


def test_also_those_of_a_lower_priority(play: Play) -> None:
    process = play.process()
    spinner, other = process.queue(priority=-1), process.queue(priority=0)
    spinner.spin()
    other.kernel(10 * MS)
    play.advance(S)
    assert other.finished() == [LAUNCH + 10 * MS]


def test_copies_go_on_beside_it(play: Play) -> None:
    process = play.process()
    spinner, other = process.queue(), process.queue()
    spinner.spin()
    other.copy_in(MB)
    play.advance(S)
    assert len(other.finished()) == 1


def test_on_another_gpu_a_wait_for_it_ends_with_it(begin: Callable[..., Play]) -> None:
    play = begin("2xt4")
    process = play.process()
    spinner, other = process.queue(gpu=0), process.queue(gpu=1)
    ticket = spinner.spin()
    other.wait(spinner, ticket)
    other.kernel(MS)
    play.advance(S)
    assert spinner.host_done()
    play.advance(S)
    assert other.finished() == [S, S + MS]


def test_who_dies_while_it_spins_leaves_nothing_on_the_engine(play: Play) -> None:
    process = play.process()
    process.queue().spin()
    other = play.process().queue()
    play.advance(S)
    process.kill()
    other.kernel(10 * MS)
    play.advance(S)
    assert other.finished() == [S + LAUNCH + 10 * MS + SWITCH]


def test_nobody_knows_when_it_ends(play: Play) -> None:
    queue = play.process().queue()
    ticket = queue.spin()
    play.advance(S)
    assert queue.soonest(ticket) > 1000 * S
