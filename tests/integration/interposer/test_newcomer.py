"""Contexts without room on the GPU: the question to the daemon, and the effect of its answer."""

import pytest

from nvshare.wire.frames import Answer, Context, HelloFlags, Memory, Verdict

from .conftest import Guest, StartGuest
from .scripted import Link, Scripted

MIB = 1 << 20
OUT_OF_MEMORY = 2


class Full:
    """A GPU without room for a context, and a program that wants one."""

    def __init__(self, start_guest: StartGuest) -> None:
        self._holder = start_guest(NVSHARE_DISABLE="1")
        assert self._holder.ask("gpu.init()") == 0
        free, _ = self._holder.ask("gpu.info()")
        code, self._memory = self._holder.ask(f"gpu.alloc({free - 2 * MIB})")
        assert code == 0
        self.guest: Guest = start_guest()
        assert self.guest.ask("gpu.cuda.cuInit(0)") == 0

    def make_room(self) -> None:
        assert self._holder.ask(f"gpu.free({self._memory})") == 0


@pytest.fixture
def full(start_guest: StartGuest) -> Full:
    return Full(start_guest)


def newcomer(scripted: Scripted, full: Full, make: str = "gpu.create()") -> tuple[Link, Context]:
    """Have it make a context; return its connection and its question."""
    full.guest.put(make)
    link = scripted.accept()
    hello = link.welcome()
    assert hello.flags & HelloFlags.NO_CONTEXT
    question: Context = link.next(Context)
    assert (question.ticket > 0, question.has_context) == (True, 0)
    return link, question


@pytest.mark.parametrize("make", ["gpu.create()", "gpu.init()"])
def test_it_waits_until_the_daemon_says_that_there_is_room(
    scripted: Scripted, full: Full, make: str
) -> None:
    link, question = newcomer(scripted, full, make)
    # It asks once, and tries nothing meanwhile.
    assert link.silent()
    full.make_room()
    assert link.silent()
    link.send(Answer(question.ticket, Verdict.YES, 0))
    assert full.guest.answer() == 0
    assert link.next(Context) == Context(ticket=0, has_context=1)
    assert full.guest.end() == ""


def test_it_is_out_of_memory_where_there_can_be_no_room(scripted: Scripted, full: Full) -> None:
    link, question = newcomer(scripted, full)
    link.send(Answer(question.ticket, Verdict.TOO_LARGE, 0))
    assert full.guest.answer() == OUT_OF_MEMORY
    # The next time it asks again; if there is room by then, it does not ask.
    full.guest.put("gpu.create()")
    link.send(Answer(link.next(Context).ticket, Verdict.HOST_FULL, 0))
    assert full.guest.answer() == OUT_OF_MEMORY
    full.make_room()
    assert full.guest.ask("gpu.create()") == 0
    assert link.next(Context) == Context(ticket=0, has_context=1)
    assert "the memory of other programs there cannot move" in full.guest.end()


def test_it_asks_again_while_others_need_all_of_the_room(scripted: Scripted, full: Full) -> None:
    link, question = newcomer(scripted, full)
    for _ in range(3):
        link.send(Answer(question.ticket, Verdict.NOT_NOW, 0))
        question = link.next(Context)
    full.make_room()
    link.send(Answer(question.ticket, Verdict.YES, 0))
    assert full.guest.answer() == 0
    assert full.guest.end() == ""


def test_a_context_that_has_no_room_after_all_is_told_of(scripted: Scripted, full: Full) -> None:
    link, question = newcomer(scripted, full)
    link.send(Answer(question.ticket, Verdict.YES, 0))
    assert full.guest.answer() == OUT_OF_MEMORY
    assert link.next(Context) == Context(ticket=0, has_context=0)


def test_a_daemon_that_dies_is_not_waited_for(scripted: Scripted, full: Full) -> None:
    newcomer(scripted, full)
    scripted.die()
    full.make_room()
    assert full.guest.answer() == 0
    assert full.guest.ask("gpu.alloc(5000)")[0] == 0


def test_without_a_daemon_it_tries_for_a_while(absent: Scripted, full: Full) -> None:
    full.guest.put("gpu.create()")
    full.make_room()
    assert full.guest.answer() == 0
    assert not absent.folder.exists()


def test_one_that_registers_before_it_may_have_a_context(
    scripted: Scripted, start_guest: StartGuest
) -> None:
    guest = start_guest(NVSHARE_REQUIRE="1")
    guest.put("gpu.init()")
    link = scripted.accept()
    assert link.welcome().flags & HelloFlags.NO_CONTEXT
    assert link.next(Context) == Context(ticket=0, has_context=1)
    assert guest.answer() == 0


def test_a_second_context_is_asked_for_as_well(scripted: Scripted, start_guest: StartGuest) -> None:
    """Questions about allocations go on meanwhile: the two do not wait for each other."""
    guest = start_guest()
    guest.put("gpu.init() or gpu.alloc(1)[0]")
    link = scripted.accept()
    assert not link.welcome().flags & HelloFlags.NO_CONTEXT
    assert guest.answer() == 0
    holder = start_guest(NVSHARE_DISABLE="1")
    assert holder.ask("gpu.init()") == 0
    free, _ = holder.ask("gpu.info()")
    assert holder.ask(f"gpu.alloc({free - 2 * MIB})")[0] == 0
    guest.ask("gpu.start('gpu.create()')")
    while not isinstance(question := link.next(object), Context):
        pass
    assert question.has_context == 1
    assert guest.ask(f"gpu.alloc({64 * MIB})")[0] == 0
    while not (asked := link.next(Memory)).ticket:
        pass
    assert asked.ticket != question.ticket
    assert not guest.ask("gpu.done(0, 0.1)")
    link.send(Answer(question.ticket, Verdict.TOO_LARGE, 0))
    assert guest.ask("gpu.done(0, 10)")
