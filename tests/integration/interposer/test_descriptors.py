"""A program closes descriptors that are not its own, and forbids new ones."""

import time
from pathlib import Path

import pytest

from nvshare.wire.frames import (
    Grant,
    Hello,
    HelloFlags,
    Revoke,
    RevokeFlags,
    Standby,
    Urgency,
    Want,
)

from .conftest import Guest, StartGuest
from .scripted import Link, Scripted, hand_over_ends
from .swapper import MIB, Swapper


def holder(scripted: Scripted, guest: Guest) -> Link:
    """Let a guest have the turn."""
    guest.ask("gpu.start('gpu.init() or gpu.launch()')")
    link = scripted.accept()
    link.welcome()
    link.send(Grant(turn=1, fill_bytes=0))
    assert guest.ask("gpu.done(0, 10)")
    return link


def comes_again(scripted: Scripted, before: Link) -> tuple[Link, Hello]:
    """The guest's next connection, after the end of the one that it has lost."""
    assert before.ends()
    link = scripted.accept()
    return link, link.welcome()


class TestTakenDescriptors:
    """The numbers of the library's descriptors belong to sockets of the program."""

    def test_in_a_turn(self, scripted: Scripted, guest: Guest) -> None:
        link = holder(scripted, guest)
        assert guest.ask("gpu.descriptors.take_all()") > 2
        again, hello = comes_again(scripted, link)
        assert hello.flags & HelloFlags.RESUMING
        assert hello.turn == 1
        again.send(Grant(turn=2, fill_bytes=0))
        assert guest.ask("gpu.launch(100)") == 0
        assert guest.ask("gpu.descriptors.touched()") == []
        # And once more: what has been opened since then is as little safe.
        guest.ask("gpu.descriptors.take_all()")
        third, _ = comes_again(scripted, again)
        third.send(Grant(turn=3, fill_bytes=0))
        assert guest.ask("gpu.launch(100)") == 0

    def test_while_a_thread_waits_for_its_turn(
        self, scripted: Scripted, start_guest: StartGuest
    ) -> None:
        guest = start_guest(NVSHARE_RESTART_WAIT="20")
        guest.ask("gpu.start('gpu.init() or gpu.launch()')")
        link = scripted.accept()
        link.welcome()
        ours, theirs = hand_over_ends()
        link.send(Standby(turn=1, fill_bytes=0), theirs)
        link.until_taken_in()
        assert not guest.ask("gpu.done(0, 0.1)")
        guest.ask("gpu.descriptors.take_all()")
        comes_again(scripted, link)[0].send(Grant(turn=2, fill_bytes=0))
        assert guest.ask("gpu.done(0, 10)")
        assert guest.ask("gpu.descriptors.touched()") == []
        assert ours

    def test_before_a_thread_asks(self, scripted: Scripted, start_guest: StartGuest) -> None:
        """Nobody can wake the session by a descriptor that is gone."""
        guest = start_guest(NVSHARE_RESTART_WAIT="20")
        link = holder(scripted, guest)
        link.send(Revoke(1, Urgency.NOW, 0, 0, RevokeFlags(0)))
        while not link.silent():
            link.next(object)
        guest.ask("gpu.descriptors.take_all()")
        guest.ask("gpu.start('gpu.launch()')")
        again, hello = comes_again(scripted, link)
        if not hello.flags & HelloFlags.WANTS:
            again.next(Want)
        again.send(Grant(turn=2, fill_bytes=0))
        assert guest.ask("gpu.done(1, 10)")
        assert guest.ask("gpu.descriptors.touched()") == []

    def test_at_the_end(self, scripted: Scripted, guest: Guest) -> None:
        link = holder(scripted, guest)
        guest.ask("gpu.descriptors.take_all()")
        guest.end()
        assert link.ends()

    def test_in_a_child(self, scripted: Scripted, guest: Guest) -> None:
        link = holder(scripted, guest)
        guest.ask("gpu.descriptors.take_all()")
        comes_again(scripted, link)
        assert guest.ask("gpu.fork('gpu.descriptors.touched()')") == "[]"

    def test_the_log(self, scripted: Scripted, start_guest: StartGuest, tmp_path: Path) -> None:
        file = tmp_path / "log"
        guest = start_guest(NVSHARE_LOG="debug", NVSHARE_LOG_FILE=str(file))
        link = holder(scripted, guest)
        guest.ask("gpu.descriptors.take_all()")
        written = file.read_text()
        comes_again(scripted, link)
        assert guest.ask("gpu.descriptors.touched()") == []
        assert file.read_text() == written != ""


class TestForbiddenDescriptors:
    """RLIMIT_NOFILE is 0."""

    @pytest.mark.timed
    def test_the_program_goes_on(self, swapper: Swapper) -> None:
        guest, link = swapper.guest, swapper.link
        guest.ask("gpu.descriptors.forbid()")
        before = guest.ask("time.process_time()")
        began = time.monotonic()
        swapper.allocate(64)
        assert guest.ask("gpu.launch(100)") == 0
        assert time.monotonic() - began < 5
        time.sleep(1)  # what the session's thread does meanwhile is measured
        assert guest.ask("time.process_time()") - before < 0.5
        link.send(Revoke(1, Urgency.NOW, 0, 0, RevokeFlags(0)))
        guest.ask("gpu.start('gpu.launch()')")
        while not isinstance(link.next(object), Want):
            pass
        ours, theirs = hand_over_ends()
        link.send(Standby(turn=2, fill_bytes=0), theirs)  # which it cannot take
        link.send(Grant(turn=3, fill_bytes=0))
        assert guest.ask("gpu.done(1, 10)")
        assert ours

    @pytest.mark.timed
    def test_the_daemon_ends(self, scripted: Scripted, swapper: Swapper) -> None:
        guest = swapper.guest
        guest.ask("gpu.descriptors.forbid()")
        scripted.die()
        assert guest.ask("gpu.launch(100)") == 0
        assert guest.ask(f"gpu.alloc({64 * MIB})")[0] == 0
        before = guest.ask("time.process_time()")
        time.sleep(1)  # as above
        assert guest.ask("time.process_time()") - before < 0.5
        assert guest.end().count("warning") == 1
