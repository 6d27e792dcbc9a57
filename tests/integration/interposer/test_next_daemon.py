"""Programs whose daemon is gone: one with a turn goes on, and the others wait for the next one."""

import os

from nvshare.wire.frames import Grant, Hello, HelloFlags, Standby, Want

from .conftest import Guest, StartGuest
from .scripted import Link, Scripted, hand_over_ends

PATIENT, IMPATIENT = "3600", "0.3"
TURN, MIB = 7, 1 << 20


def waiter(start_guest: StartGuest, scripted: Scripted, wait: str) -> tuple[Guest, Link]:
    """Start a program that waits at its gate for its first turn."""
    guest = start_guest(NVSHARE_RESTART_WAIT=wait)
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    link.welcome()
    link.next(Want)
    return guest, link


def test_without_a_turn_it_waits_and_tells_the_next_daemon_so(
    scripted: Scripted, start_guest: StartGuest
) -> None:
    guest, _ = waiter(start_guest, scripted, PATIENT)
    scripted.die()
    assert not guest.ask("gpu.done(0, 0.5)")
    scripted.listen()
    again = scripted.accept()
    hello: Hello = again.welcome()
    assert not hello.flags & HelloFlags.RESUMING
    assert hello.flags & HelloFlags.WANTS
    again.send(Grant(turn=TURN, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    assert "waits up to 3600 s for the next daemon" in guest.end()


def test_memory_that_was_never_used_has_not_been_used_meanwhile(
    scripted: Scripted, start_guest: StartGuest
) -> None:
    """Otherwise it would be moved out, and fill the host with zeros."""
    guest = start_guest(NVSHARE_RESTART_WAIT=PATIENT)
    guest.ask(f"gpu.start('gpu.init() or gpu.alloc({64 * MIB})[0] or gpu.launch()')")
    link = scripted.accept()
    link.welcome()
    link.told(Want)
    scripted.die()
    scripted.listen()
    hello: Hello = scripted.accept().welcome()
    assert (hello.untouched, hello.swapped_out) == (64 * MIB, 64 * MIB)


def test_it_waits_no_longer_than_that_and_claims_no_turn(
    scripted: Scripted, start_guest: StartGuest
) -> None:
    guest, _ = waiter(start_guest, scripted, IMPATIENT)
    scripted.die()
    assert guest.ask("gpu.done(0, 10)")
    scripted.listen()
    hello: Hello = scripted.accept().welcome()
    assert hello.flags & HelloFlags.RESUMING
    assert hello.flags & HelloFlags.UNGRANTED


def test_a_daemon_that_does_not_answer_is_waited_for_no_longer(
    scripted: Scripted, start_guest: StartGuest
) -> None:
    guest, _ = waiter(start_guest, scripted, IMPATIENT)
    scripted.die()
    scripted.listen()
    scripted.accept().next(Hello)  # and no WELCOME
    assert guest.ask("gpu.done(0, 20)")


def test_who_has_a_turn_goes_on_with_it(scripted: Scripted, start_guest: StartGuest) -> None:
    guest, link = waiter(start_guest, scripted, PATIENT)
    link.send(Grant(turn=TURN, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    scripted.die()
    assert guest.ask("gpu.launch(100)") == 0
    scripted.listen()
    hello: Hello = scripted.accept().welcome()
    assert hello.turn == TURN
    assert hello.flags & HelloFlags.RESUMING
    assert not hello.flags & HelloFlags.UNGRANTED


def test_a_turn_that_was_handed_over_before_is_a_turn(
    scripted: Scripted, start_guest: StartGuest
) -> None:
    """Whoever had it before has given it up, and waits too."""
    guest, link = waiter(start_guest, scripted, PATIENT)
    ours, theirs = hand_over_ends()
    link.send(Standby(turn=TURN, fill_bytes=0), theirs)
    link.until_taken_in()
    os.write(ours, b"1")
    scripted.die()
    assert guest.ask("gpu.done(0, 10)")
    scripted.listen()
    hello: Hello = scripted.accept().welcome()
    assert hello.turn == TURN
    assert not hello.flags & HelloFlags.UNGRANTED
