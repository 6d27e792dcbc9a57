"""Whatever a daemon sends, the program goes on and computes the right result."""

import os
from contextlib import suppress
from itertools import groupby

import pytest

from nvshare.wire.frames import Grant
from protocol.boundaries import Case, cases

from .conftest import Guest
from .scripted import Link, Scripted, hand_over_ends

SIZE = 1 << 20
PATTERN = f"b'ab' * {SIZE // 2}"
BUFFER = f"gpu.buffers[{SIZE}]"

# With the first two the daemon limits a program's part of the GPU, and with the last it rejects the
# program: a possible value is an order, and obeyed.
ORDERS = {"LIMITS", "SETTINGS", "REJECT"}


def deliver(link: Link, case: Case) -> None:
    """Send a frame, with the descriptor that it should have. The program may have hung up."""
    with suppress(OSError):
        if not case.frame.descriptor:
            link.send_bytes(case.bytes)
            return
        ours, theirs = hand_over_ends()
        try:
            link.send_bytes(case.bytes, theirs)
        finally:
            os.close(ours)
            os.close(theirs)


def running(scripted: Scripted, guest: Guest) -> Link:
    """A program that holds its turn, and has data on the GPU."""
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    link.welcome()
    link.send(Grant(turn=1, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    assert guest.ask("gpu.launch()") == 0
    code, pointer = guest.ask(f"gpu.alloc({SIZE})")
    assert code == 0
    guest.ask(f"gpu.host({SIZE}) and {BUFFER}.write({PATTERN})")
    assert guest.ask(f"gpu.upload({pointer}, {SIZE})") == 0
    guest.ask(f"{BUFFER}.seek(0) or {BUFFER}.write(bytes({SIZE}))")
    return link


def has_its_data(guest: Guest) -> bool:
    """Whether the program's data is still there."""
    pointer = guest.ask("gpu.last.value")
    assert guest.ask(f"gpu.download({pointer}, {SIZE})") == 0
    return bool(guest.ask(f"{BUFFER}[:] == {PATTERN}"))


@pytest.mark.timeout(60)
def test_no_value_harms_the_program(scripted: Scripted, guest: Guest) -> None:
    link = running(scripted, guest)
    for name, found in groupby(cases("daemon"), key=lambda case: case.frame.name):
        all_of_it = list(found)
        bad = [case for case in all_of_it if not case.is_good]
        if name not in ORDERS:
            for case in all_of_it:
                if case.is_good:
                    deliver(link, case)
        for case in bad[:1]:
            deliver(link, case)
        if not bad:
            link.close()
        else:
            assert link.ends(), name
        # It runs on by itself, and comes back.
        assert guest.ask("gpu.launch(10)") == 0, name
        link = scripted.accept()
        link.welcome()
        assert guest.ask("gpu.launch(10)") == 0, name
    assert has_its_data(guest)


@pytest.mark.timeout(60)
def test_a_daemon_that_never_stops_talking(scripted: Scripted, guest: Guest) -> None:
    link = running(scripted, guest)
    link.flood(Grant(turn=1, fill_bytes=0).pack() * 100)
    # The session's thread still does its other work: an allocation is agreed to.
    assert guest.ask(f"gpu.alloc({64 << 20})[0]") == 0
    assert guest.ask("gpu.launch(100)") == 0
