"""How a program allocates: as the daemon says before it welcomes the program, and only once."""

import pytest

from nvshare.wire.frames import (
    Allocates,
    Allocation,
    AllocationFlags,
    AllocationKind,
    Answer,
    Grant,
    Hello,
    HelloFlags,
    Memory,
    Verdict,
    Want,
)

from .conftest import Guest, StartGuest
from .scripted import Link, Scripted

OUT_OF_MEMORY = 2
MIX = AllocationFlags.MIX


@pytest.fixture
def gpus() -> str:
    return "tiny"


def start(
    scripted: Scripted, guest: Guest, kind: AllocationKind, flags: AllocationFlags
) -> tuple[Link, Hello]:
    """Have a program registered and told how to allocate."""
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    link.send(Allocation(kind, flags))
    hello = link.welcome()
    link.next(Want)
    link.send(Grant(turn=1, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10) and gpu.init()") == 0
    return link, hello


def question(link: Link) -> Memory:
    """The next report that waits for an answer."""
    while not (memory := link.next(Memory)).ticket:
        continue
    return memory  # type: ignore[no-any-return]


@pytest.mark.parametrize("wish", ["managed", "native", "auto", ""])
def test_the_daemon_has_the_last_word(
    scripted: Scripted, start_guest: StartGuest, wish: str
) -> None:
    guest = start_guest(NVSHARE_ALLOCATION=wish)
    _, hello = start(scripted, guest, AllocationKind.EXPLICIT, AllocationFlags(0))
    assert hello.flags & HelloFlags.UNDECIDED
    asked = [flag for flag in HelloFlags if flag.name and flag.name.startswith("ASKS")]
    asks = {flag.name for flag in asked if hello.flags & flag}
    assert asks == ({f"ASKS_{wish.upper()}"} if wish else set())
    assert guest.ask("gpu.alloc(8 << 20)[0]") == 0
    # It reports its kind to the next daemon, and is not asked again.
    scripted.die()
    scripted.listen()
    again = scripted.accept().welcome()
    assert again.allocation_kind is AllocationKind.EXPLICIT
    assert not again.flags & HelloFlags.UNDECIDED


def test_what_is_said_too_late_changes_nothing(scripted: Scripted, start_guest: StartGuest) -> None:
    guest = start_guest()
    link, _ = start(scripted, guest, AllocationKind.MANAGED, AllocationFlags(0))
    link.send(Allocation(AllocationKind.EXPLICIT, AllocationFlags(0)))
    # The daemon is told which kind is in force.
    assert link.next(Allocates).allocation_kind is AllocationKind.MANAGED


def test_a_daemon_that_does_not_say_leaves_it_to_the_environment(
    scripted: Scripted, start_guest: StartGuest
) -> None:
    guest = start_guest(NVSHARE_ALLOCATION="explicit")
    guest.put("gpu.init() or gpu.alloc(1 << 20)[0]")
    hello = scripted.accept().welcome()
    assert hello.allocation_kind is AllocationKind.EXPLICIT
    assert guest.answer() == 0


def test_more_than_has_room_at_once_is_managed_memory_if_that_may_be(
    scripted: Scripted, start_guest: StartGuest
) -> None:
    guest = start_guest()
    link, _ = start(scripted, guest, AllocationKind.EXPLICIT, MIX)
    link.verdict = None
    guest.put("gpu.alloc(64 << 20)[0]")
    link.send(Answer(question(link).ticket, Verdict.TOO_LARGE, 0))
    # It is told before any new question.
    while not isinstance(frame := link.next(object), Allocates):
        assert isinstance(frame, Memory)
        assert not frame.ticket
    assert frame.allocation_kind is AllocationKind.MIXED
    link.send(Answer(question(link).ticket, Verdict.YES, 0))
    assert guest.answer() == 0


def test_else_it_is_refused(scripted: Scripted, start_guest: StartGuest) -> None:
    guest = start_guest()
    link, _ = start(scripted, guest, AllocationKind.EXPLICIT, AllocationFlags(0))
    link.verdict = Verdict.TOO_LARGE
    assert guest.ask("gpu.alloc(64 << 20)[0]") == OUT_OF_MEMORY
    assert "NVSHARE_ALLOCATION=managed or NVSHARE_ALLOCATION=auto" in guest.end()
