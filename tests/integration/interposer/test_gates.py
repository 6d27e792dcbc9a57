"""The other gates than the one-word assembly gate: each holds and releases calls as that one does.

On machines other than x86-64 the gate is plain C. For explicit memory, calls mark that they are
inside: a turn ends when no call is.
"""

import time

import pytest

from nvshare.wire.frames import Grant, Hello, HelloFlags, Released, Revoke, Urgency, Want

from .conftest import Guest
from .scripted import Link, Scripted


@pytest.fixture(params=["portable", "marked"])
def environment(environment: dict[str, str], request: pytest.FixtureRequest) -> dict[str, str]:
    """As for all other guests, with another gate."""
    if request.param == "portable":
        return {**environment, "LD_PRELOAD": str(request.getfixturevalue("portable_library"))}
    return {**environment, "NVSHARE_ALLOCATION": "explicit"}


@pytest.fixture
def link(scripted: Scripted, guest: Guest) -> Link:
    """A guest that waits for its first turn."""
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    hello: Hello = link.welcome()
    if not hello.flags & HelloFlags.WANTS:
        link.next(Want)
    return link


def revoke(turn: int) -> Revoke:
    return Revoke(turn=turn, urgency=Urgency.NOW, idle_us=0, evict_bytes=0)


def test_a_closed_gate_holds_calls_and_an_open_one_lets_them_go(link: Link, guest: Guest) -> None:
    assert not guest.ask("gpu.done(0, 0.1)")
    link.send(Grant(turn=1, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    link.send(revoke(1))
    link.next(Released)
    # Of these, one is counted against the work in flight and the other is not.
    guest.ask("gpu.start('gpu.launch()')")
    link.next(Want)
    guest.ask("gpu.start('gpu.copy()')")
    assert guest.ask("[gpu.done(1, 0.1), gpu.done(2, 0.1)]") == [False, False]
    link.send(Grant(turn=2, fill_bytes=0))
    assert guest.ask("[gpu.done(1, 10), gpu.done(2, 10)]") == [True, True]


def test_turns_come_and_go_while_threads_launch(link: Link, guest: Guest) -> None:
    link.send(Grant(turn=1, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    for thread in (1, 2):
        guest.ask(f"gpu.start('gpu.launch(3000)') or {thread}")
    for turn in range(1, 30):
        time.sleep(0.005)
        link.send(revoke(turn))
        # It may have begun to wait before it had the turn.
        while not isinstance(link.next(Released | Want), Released):
            continue
        link.send(Grant(turn=turn + 1, fill_bytes=0))
    assert guest.ask("[gpu.done(1, 60), gpu.done(2, 60)]") == [True, True]


def test_an_idle_program_gives_its_turn_up(link: Link, guest: Guest) -> None:
    link.send(Grant(turn=1, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    link.send(Revoke(turn=1, urgency=Urgency.WHEN_IDLE, idle_us=1000, evict_bytes=0))
    link.next(Released)


def test_launches_are_counted(link: Link, guest: Guest) -> None:
    """Otherwise all would be in flight at once: the gate lets only a few pass."""
    link.send(Grant(turn=1, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    guest.ask("gpu.start('gpu.launch(500, slow=True)')")
    time.sleep(0.2)
    assert 0 < guest.ask("gpu.launches") < 100
    guest.process.kill()
