"""The interposer's duties to the daemon: turns taken, waited for, given up and handed over."""

import os
import select
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from nvshare.wire.frames import (
    CancelHandover,
    Evict,
    Grant,
    Handover,
    HelloFlags,
    Keep,
    Memory,
    Moved,
    Released,
    ReleaseReason,
    Revoke,
    Standby,
    Urgency,
    Want,
)

from .conftest import Guest
from .scripted import Link, Scripted, hand_over_ends

pytestmark = pytest.mark.timed
STREAM_CAPTURE_IMPLICIT = 906


@pytest.fixture
def link(scripted: Scripted, guest: Guest) -> Link:
    """A guest that waits for its first turn, and has reported that."""
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    hello = link.welcome()
    if not hello.flags & HelloFlags.WANTS:
        assert link.next(Want).turn == 0
    return link


@pytest.fixture
def running(link: Link, guest: Guest) -> Link:
    """A guest that holds turn 5."""
    link.send(Grant(turn=5, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    return link


def revoke(turn: int, urgency: Urgency = Urgency.NOW, idle_us: int = 0) -> Revoke:
    return Revoke(turn=turn, urgency=urgency, idle_us=idle_us, evict_bytes=0)


def readable(descriptor: int, seconds: float) -> bool:
    return bool(select.select([descriptor], [], [], seconds)[0])


def test_nothing_runs_before_the_first_grant(link: Link, guest: Guest) -> None:
    assert not guest.ask("gpu.done(0, 0.2)")
    link.send(Grant(turn=1, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    assert guest.ask("gpu.launches") == 1


def test_a_revoked_turn_is_released_when_its_work_is_done(running: Link, guest: Guest) -> None:
    assert guest.ask("gpu.launch(5, slow=True)") == 0
    asked = time.monotonic()
    running.send(revoke(5))
    released = running.next(Released)
    assert (released.turn, released.reason, released.wants) == (5, ReleaseReason.TOLD, 0)
    # Five kernels of 20 ms, less the time that had passed.
    assert time.monotonic() - asked > 0.05
    guest.ask("gpu.start('gpu.launch()')")
    assert running.next(Want).turn == 5
    assert not guest.ask("gpu.done(1, 0.1)")
    running.send(Grant(turn=6, fill_bytes=0))
    assert guest.ask("gpu.done(1, 10)")


def test_every_thread_stops_at_a_closed_gate(running: Link, guest: Guest) -> None:
    for _ in range(4):
        guest.ask("gpu.start('gpu.launch(1000000)')")
    time.sleep(0.1)
    running.send(revoke(5))
    if not running.next(Released).wants:
        running.next(Want)
    before = guest.ask("gpu.launches")
    assert guest.ask("time.sleep(0.1) or gpu.launches") - before <= 4
    running.send(Grant(turn=6, fill_bytes=0))
    assert guest.ask("time.sleep(0.2) or gpu.launches") > before + 100
    guest.process.kill()


def test_work_in_flight_is_bounded(running: Link, guest: Guest) -> None:
    """A program that launches without end gives way within the bound and two kernels."""
    guest.ask("gpu.start('gpu.launch(100000, slow=True)')")
    time.sleep(2)
    asked = time.monotonic()
    running.send(revoke(5))
    running.next(Released)
    assert time.monotonic() - asked < 0.05 + 3 * 0.02 + 0.1
    guest.process.kill()


def test_streams_of_their_own_are_waited_for(running: Link, guest: Guest) -> None:
    assert guest.ask("gpu.stream() and gpu.launch(5, slow=True, stream=gpu.streams[0])") == 0
    asked = time.monotonic()
    running.send(revoke(5))
    running.next(Released)
    assert time.monotonic() - asked > 0.05


def test_an_idle_client_gives_way(running: Link, guest: Guest) -> None:
    running.send(revoke(5, Urgency.WHEN_IDLE, idle_us=20_000))
    released = running.next(Released, seconds=0.5)
    assert (released.turn, released.reason) == (5, ReleaseReason.IDLE)
    guest.ask("gpu.start('gpu.launch()')")
    running.next(Want)


def test_a_busy_client_does_not(running: Link, guest: Guest) -> None:
    """Neither a thread that launches nor one that waits for its launches."""
    guest.ask("gpu.start('gpu.launch(25, slow=True) or gpu.sync()')")
    running.send(revoke(5, Urgency.WHEN_IDLE, idle_us=20_000))
    assert running.silent(0.3)
    assert guest.ask("gpu.done(1, 10)")
    assert running.next(Released).reason is ReleaseReason.IDLE


def test_one_that_works_now_and_then_keeps_its_turn(running: Link, guest: Guest) -> None:
    job = "[gpu.launch() or gpu.sync() or time.sleep(0.01) for _ in range(50)]"
    guest.ask(f'gpu.start("{job}")')
    running.send(revoke(5, Urgency.WHEN_IDLE, idle_us=100_000))
    assert running.silent(0.4)
    assert running.next(Released).reason is ReleaseReason.IDLE


def test_keep_takes_a_revoke_back(running: Link, guest: Guest) -> None:
    running.send(revoke(5, Urgency.WHEN_IDLE, idle_us=100_000))
    running.send(Keep(turn=5))
    assert running.silent(0.3)
    assert guest.ask("gpu.launch()") == 0


def test_keep_comes_while_the_gate_is_closed(running: Link, guest: Guest) -> None:
    guest.ask("gpu.launch(10, slow=True)")
    running.send(revoke(5))
    guest.ask("gpu.start('gpu.launch()')")
    running.send(Keep(turn=5))
    assert guest.ask("gpu.done(1, 10)")
    assert running.silent()


def test_a_turn_is_passed_on_by_its_socket(running: Link) -> None:
    ours, theirs = hand_over_ends()
    running.send(Handover(turn=5, next_turn=8), theirs)
    running.send(revoke(5))
    assert running.next(Released).handed_turn == 8
    assert readable(ours, 1)


def close_end(ours: int, theirs: int) -> None:
    os.close(ours)
    os.close(theirs)


def fill_end(ours: int, theirs: int) -> None:
    """Nothing more can be written to it, and a write would block for ever."""
    del ours
    os.set_blocking(theirs, False)
    with suppress(BlockingIOError):
        while os.write(theirs, bytes(65536)):
            pass
    os.set_blocking(theirs, True)


@pytest.mark.parametrize("harm", [close_end, fill_end])
def test_the_next_program_cannot_hold_up_the_holder(
    running: Link, guest: Guest, harm: Callable[[int, int], None]
) -> None:
    ours, theirs = hand_over_ends()
    running.send(Handover(turn=5, next_turn=8), theirs)
    running.until_taken_in()
    harm(ours, theirs)
    running.send(revoke(5))
    assert running.next(Released).handed_turn == 0
    running.send(Grant(turn=9, fill_bytes=0))
    assert guest.ask("gpu.launch()") == 0


@pytest.mark.parametrize("cancel", [CancelHandover(turn=5), Keep(turn=5)])
def test_a_handover_that_was_cancelled_wakes_nobody(
    running: Link, cancel: CancelHandover | Keep
) -> None:
    ours, theirs = hand_over_ends()
    running.send(Handover(turn=5, next_turn=8), theirs)
    running.send(cancel)
    running.send(revoke(5))
    assert running.next(Released).handed_turn == 0
    assert not readable(ours, 0.1)


def test_standby_brings_a_turn(link: Link, guest: Guest) -> None:
    ours, theirs = hand_over_ends()
    link.send(Standby(turn=3, fill_bytes=0), theirs)
    assert not guest.ask("gpu.done(0, 0.1)")
    os.write(ours, b"1")
    assert guest.ask("gpu.done(0, 10)")
    link.send(Grant(turn=3, fill_bytes=0))
    link.send(revoke(3))
    assert link.next(Released).turn == 3


def test_a_predecessor_that_has_gone_brings_no_turn(link: Link, guest: Guest) -> None:
    ours, theirs = hand_over_ends()
    link.send(Standby(turn=3, fill_bytes=0), theirs)
    link.until_taken_in()
    close_end(ours, theirs)
    assert not guest.ask("gpu.done(0, 0.1)")
    # The library stops polling an end that is always ready.
    before = guest.sleeps_of_session()
    assert not guest.ask("gpu.done(0, 0.1)")
    assert guest.sleeps_of_session() - before < 20
    link.send(Grant(turn=3, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")


def test_a_turn_is_known_as_soon_as_it_has_come(link: Link, guest: Guest) -> None:
    """The daemon's GRANT is late, and its questions meanwhile are answered for the present turn."""
    ours, theirs = hand_over_ends()
    link.send(Standby(turn=3, fill_bytes=0), theirs)
    os.write(ours, b"1")
    assert guest.ask("gpu.done(0, 10)")
    link.send(Evict(evict_bytes=0))
    assert link.next(Moved).turn == 3
    link.send(revoke(3))
    assert link.next(Released).turn == 3


def test_a_standby_wakes_those_who_wait_and_nobody_else(link: Link, guest: Guest) -> None:
    for _ in range(3):
        guest.ask("gpu.start('gpu.launch()')")
    ours, theirs = hand_over_ends()
    link.send(Standby(turn=3, fill_bytes=0), theirs)
    assert not any(guest.ask(f"gpu.done({job}, 0.05)") for job in range(4))
    before = guest.sleeps_of_session()
    os.write(ours, b"1")
    assert all(guest.ask(f"gpu.done({job}, 10)") for job in range(4))
    assert guest.sleeps_of_session() == before


def test_a_later_standby_replaces_an_earlier_one(link: Link, guest: Guest) -> None:
    (first, its_first), (second, its_second) = hand_over_ends(), hand_over_ends()
    link.send(Standby(turn=3, fill_bytes=0), its_first)
    link.send(Standby(turn=3, fill_bytes=0), its_second)
    link.send(Evict(evict_bytes=0))
    link.next(Moved)
    os.write(first, b"1")
    assert not guest.ask("gpu.done(0, 0.1)")
    os.write(second, b"1")
    assert guest.ask("gpu.done(0, 10)")


def test_a_client_on_standby_goes_on_without_its_daemon(
    scripted: Scripted, link: Link, guest: Guest
) -> None:
    """The socket of that time means nothing to the next daemon."""
    ours, theirs = hand_over_ends()
    link.send(Standby(turn=3, fill_bytes=0), theirs)
    assert not guest.ask("gpu.done(0, 0.1)")
    link.close()
    assert guest.ask("gpu.done(0, 10)")
    again = scripted.accept()
    hello = again.welcome()
    can = HelloFlags.CAN_MANAGE | HelloFlags.CAN_MAP | HelloFlags.CAN_HOLD
    open_without_a_turn = HelloFlags.RESUMING | HelloFlags.UNGRANTED
    assert (hello.flags, hello.turn) == (open_without_a_turn | can, 0)
    again.send(revoke(0))
    again.next(Released)
    os.write(ours, b"1")
    guest.ask("gpu.start('gpu.launch()')")
    again.next(Want)
    assert not guest.ask("gpu.done(1, 0.1)")
    again.send(Grant(turn=3, fill_bytes=0))
    assert guest.ask("gpu.done(1, 10)")


def test_frames_of_other_turns_are_void(running: Link, guest: Guest) -> None:
    ours, theirs = hand_over_ends()
    os.write(ours, b"1")
    running.send(revoke(4))
    running.send(Grant(turn=5, fill_bytes=0))
    running.send(Standby(turn=5, fill_bytes=0), theirs)
    running.send(Handover(turn=4, next_turn=9), theirs)
    assert running.silent()
    running.send(revoke(5))
    assert running.next(Released).handed_turn == 0
    # A grant that crossed with the release gives nothing.
    running.send(Grant(turn=5, fill_bytes=0))
    guest.ask("gpu.start('gpu.launch()')")
    running.next(Want)
    assert not guest.ask("gpu.done(1, 0.1)")


def test_what_is_captured_is_not_held_up(running: Link, guest: Guest) -> None:
    """The capture itself runs nothing; the graph does, and waits."""
    guest.ask("gpu.launch()")
    running.send(revoke(5))
    running.next(Released)
    assert guest.ask("gpu.capture(200)") == [0, 0, 0, 0]
    guest.ask("gpu.start('gpu.launch_graph()')")
    running.next(Want)
    assert not guest.ask("gpu.done(1, 0.1)")
    running.send(Grant(turn=6, fill_bytes=0))
    assert guest.ask("gpu.done(1, 10)")
    assert guest.ask("gpu.sync()") == 0


def test_a_copy_that_a_capture_forbids_does_not_wait_for_a_turn(
    running: Link, guest: Guest
) -> None:
    guest.ask("gpu.launch()")
    code, pointer = guest.ask("gpu.alloc(4096)")
    assert code == 0
    running.next(Memory)
    running.send(revoke(5))
    running.next(Released)
    assert guest.ask("gpu.cuda.cuStreamBeginCapture_v2(gpu.stream(0), 2)") == 0
    guest.ask(f"gpu.start('gpu.codes.append(gpu.upload({pointer}, 4096))')")
    assert guest.ask("gpu.done(1, 10)")
    assert guest.ask("gpu.codes") == [STREAM_CAPTURE_IMPLICIT]


def test_captures_survive_turns(running: Link, guest: Guest) -> None:
    job = "setattr(gpu, 'codes', sum((gpu.capture(50) for _ in range(60)), []))"
    guest.ask(f'gpu.start("{job}")')
    turn = 5
    while not guest.ask("gpu.done(1)"):
        running.send(revoke(turn))
        while not isinstance(running.next(Released | Want), Released):
            pass
        turn += 1
        running.send(Grant(turn=turn, fill_bytes=0))
        time.sleep(0.01)
    assert set(guest.ask("gpu.codes")) == {0}


def test_two_gpus_are_two_clients(scripted: Scripted, guest: Guest) -> None:
    guest.ask("gpu.start('gpu.init(0) or gpu.launch()')")
    first = scripted.accept()
    one = first.welcome()
    first.send(Grant(turn=1, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    guest.ask("gpu.start('gpu.init(1) or gpu.launch()')")
    second = scripted.accept()
    assert second.welcome().device_uuid != one.device_uuid
    assert not guest.ask("gpu.done(1, 0.1)")
    second.send(Grant(turn=1, fill_bytes=0))
    assert guest.ask("gpu.done(1, 10)")
    # The gate of one GPU does not affect the other.
    first.send(revoke(1))
    first.next(Released)
    assert guest.ask("gpu.launch(100)") == 0
