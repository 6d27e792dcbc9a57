"""The library asks the daemon about large allocations: when, and how it treats the answer."""

import time

import pytest

from nvshare.wire.frames import Answer, Memory, Verdict

from .conftest import StartGuest
from .scripted import Scripted
from .swapper import MIB, Swapper

pytestmark = pytest.mark.timed

OUT_OF_MEMORY = 2


def question(swapper: Swapper) -> Memory:
    """The next report that waits for an answer."""
    while not (memory := swapper.told(Memory)).ticket:
        continue
    return memory


def test_the_daemon_is_asked_when_it_is_more_than_it_has_agreed_to(swapper: Swapper) -> None:
    swapper.allocate(16)
    swapper.allocate(16)
    assert swapper.told(Memory).ticket == 0
    swapper.allocate(1)
    memory = question(swapper)
    assert memory.allocated == 33 * MIB
    swapper.allocate(32)
    swapper.allocate(33)
    again = question(swapper)
    assert (again.allocated, again.ticket) == (98 * MIB, memory.ticket + 1)


def test_what_was_given_back_is_asked_for_again(swapper: Swapper) -> None:
    pointer = swapper.allocate(64)
    first = question(swapper).ticket
    assert swapper.guest.ask(f"gpu.free({pointer})") == 0
    while swapper.told(Memory).allocated:
        continue
    swapper.allocate(64)
    assert question(swapper).ticket == first + 1


def test_the_thread_waits_for_the_answer(swapper: Swapper) -> None:
    swapper.link.verdict = None
    swapper.guest.ask(f"gpu.start('gpu.use(gpu.context) or gpu.alloc({64 * MIB})')")
    ticket = question(swapper).ticket
    assert not swapper.guest.ask("gpu.done(1, 0.1)")
    # Other threads work meanwhile, and answers to other questions are not for it.
    assert swapper.guest.ask("gpu.launch(10)") == 0
    swapper.link.send(Answer(ticket + 1, Verdict.YES, 0))
    assert not swapper.guest.ask("gpu.done(1, 0.1)")
    swapper.link.send(Answer(ticket, Verdict.YES, 0))
    assert swapper.guest.ask("gpu.done(1, 10)")


def test_a_refusal_is_out_of_memory_and_says_why(swapper: Swapper) -> None:
    kept = swapper.allocate(8)
    swapper.link.verdict = Verdict.HOST_FULL
    assert swapper.guest.ask(f"gpu.alloc({64 * MIB})")[0] == OUT_OF_MEMORY
    assert question(swapper).allocated == 72 * MIB
    # The daemon is told that the memory is not used after all.
    while swapper.told(Memory).allocated != 8 * MIB:
        continue
    swapper.touch(kept)
    swapper.link.verdict = Verdict.YES
    swapper.allocate(64)
    assert "host_memory" in swapper.guest.end()


@pytest.mark.parametrize("is_sent", [False, True])
def test_a_daemon_that_dies_is_not_waited_for(
    scripted: Scripted, swapper: Swapper, *, is_sent: bool
) -> None:
    swapper.link.verdict = None
    swapper.guest.ask(f"gpu.start('gpu.use(gpu.context) or gpu.alloc({64 * MIB})')")
    if is_sent:
        question(swapper)
    scripted.die()
    assert swapper.guest.ask("gpu.done(1, 2)")
    assert swapper.guest.ask(f"gpu.alloc({64 * MIB})")[0] == 0


def test_many_threads_ask_at_once(swapper: Swapper) -> None:
    for _ in range(5):
        swapper.guest.ask(f"gpu.start('gpu.use(gpu.context) or gpu.alloc({40 * MIB})')")
    assert all(swapper.guest.ask(f"gpu.done({job}, 10)") for job in range(1, 6))
    free, total = swapper.guest.ask("gpu.info()")
    assert total - free == 200 * MIB


@pytest.mark.parametrize("answer", ["room at once", "room later", "no turn"])
def test_growth_that_others_make_room_for(
    swapper: Swapper, start_guest: StartGuest, answer: str
) -> None:
    """The gate is closed until there is room, so that nothing is ever paged."""
    other = start_guest(NVSHARE_DISABLE="1")
    assert other.ask("gpu.init()") == 0
    code, plain = other.ask(f"gpu.alloc({150 * MIB})")
    assert code == 0
    if answer == "no turn":
        swapper.swap_out(0)
    if answer != "room at once":
        swapper.link.missing = 60 * MIB
    pointer = swapper.allocate(120)
    if answer == "room later":
        swapper.guest.ask("gpu.start('gpu.launch()')")
        assert not swapper.guest.ask("gpu.done(1, 0.1)")
        swapper.room(30 * MIB)
        assert not swapper.guest.ask("gpu.done(1, 0.1)")
    assert other.ask(f"gpu.free({plain})") == 0
    if answer == "room later":
        swapper.room(0)
        assert swapper.guest.ask("gpu.done(1, 10)")
    if answer == "no turn":
        swapper.grant()
    swapper.touch(pointer)
    account = swapper.truth()
    assert (account.resident_bytes, account.in_bytes) == (120 * MIB, 0)


def test_growth_that_never_comes_closes_the_gate_for_a_moment(swapper: Swapper) -> None:
    """A thread whose memory the driver refuses, here for a capture, after the daemon has agreed."""
    swapper.link.missing = 1
    began = time.monotonic()
    assert swapper.guest.ask("gpu.cuda.cuStreamBeginCapture_v2(gpu.stream(), 0)") == 0
    assert swapper.guest.ask(f"gpu.alloc({64 * MIB})")[0] != 0
    swapper.guest.ask("gpu.cuda.cuStreamEndCapture(gpu.streams[-1], None)")
    assert swapper.guest.ask("gpu.launch()") == 0
    assert time.monotonic() - began < 5
