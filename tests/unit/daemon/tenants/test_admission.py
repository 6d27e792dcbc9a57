"""Which connections are let in, wait, or are sent away; with sockets, and without a daemon."""

import asyncio
import socket
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from nvshare.daemon.tenants import admission as admission_module
from nvshare.daemon.tenants.admission import Admission
from nvshare.daemon.tenants.identity import Caller, Identity
from nvshare.daemon.tenants.peer import Peer
from nvshare.daemon.tenants.peers import Peers
from nvshare.daemon.tenants.rejection import Rejection
from nvshare.settings import PeerSettings
from nvshare.wire.codec import daemon_frames
from nvshare.wire.frames import Reject, RejectCode

WHO = Identity(7, 1, 1, "program", started=70)
SEEN = Caller(7, 1, 1, "0::/")


class House:
    """An admission, and the connections that it has let in."""

    def __init__(self) -> None:
        self.peers = Peers(asyncio.get_running_loop(), PeerSettings(), max_clients=100)
        self.admission = Admission(self.peers, self.begin)
        self.inside: list[socket.socket] = []
        self.looked = 0

    def begin(self, sock: socket.socket, seen: Caller) -> Peer:
        assert seen == SEEN
        peer = self.peers.enter(WHO)
        self.inside.append(sock)
        return peer

    def knock(self) -> tuple[bool, socket.socket]:
        """Connect; return whether it was let in, and the other end."""
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        return self.admission.connect(ours), theirs


def play(scene: Callable[[House], None], monkeypatch: pytest.MonkeyPatch) -> None:
    async def act() -> None:
        house = House()

        def identify_caller(_: socket.socket) -> Caller:
            house.looked += 1
            return SEEN

        monkeypatch.setattr(admission_module, "identify_caller", identify_caller)
        scene(house)
        for _ in range(5):
            await asyncio.sleep(0)
        house.admission.close()
        for sock in house.inside:
            sock.close()

    monkeypatch.setattr(admission_module, "peer", lambda _: (7, 1, 1))
    asyncio.run(act())


def test_who_comes_is_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    def scene(house: House) -> None:
        is_in, theirs = house.knock()
        assert is_in
        assert len(house.inside) == 1
        theirs.close()

    play(scene, monkeypatch)


def test_who_is_let_in_pays_for_being_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one connection after the other, the look is much of their cost."""

    def scene(house: House) -> None:
        clock = iter((1.0, 1.25))
        monkeypatch.setattr(time, "thread_time", lambda: next(clock))
        house.knock()[1].close()
        assert house.peers.enter(WHO).budget.left == pytest.approx(4.0 - 0.25)

    play(scene, monkeypatch)


def test_one_whose_process_is_full_is_not_even_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def scene(house: House) -> None:
        monkeypatch.setattr(house.peers, "is_full", lambda pid: pid == 7)
        is_in, theirs = house.knock()
        assert not is_in
        assert house.looked == 0
        assert theirs.recv(1) == b""
        theirs.close()

    play(scene, monkeypatch)


def test_who_is_turned_away_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def scene(house: House) -> None:
        def refuse(_: Identity) -> None:
            raise Rejection(RejectCode.FULL, "too many")

        monkeypatch.setattr(house.peers, "enter", refuse)
        is_in, theirs = house.knock()
        assert not is_in
        (told,) = daemon_frames().feed(theirs.recv(4096))
        assert told == Reject(RejectCode.FULL, "too many")
        theirs.close()

    play(scene, monkeypatch)


def test_one_that_has_ended_does_not_wait_where_others_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have been in a container: then others of its user would wait behind it, and pay."""

    def scene(house: House) -> None:
        peer = house.peers.enter(WHO)
        peer.charge(asyncio.get_running_loop().time(), 9.0)
        before = peer.tenant.budget.left
        monkeypatch.setattr(
            admission_module, "identify_caller", lambda _: replace(SEEN, is_alive=False)
        )

        def refuse(_sock: socket.socket, _seen: Caller) -> Peer:
            raise Rejection(RejectCode.PERMISSION, "it has ended")

        house.admission = Admission(house.peers, refuse)
        for _ in range(100):
            is_in, theirs = house.knock()
            assert not is_in
            assert theirs.recv(4096)
            theirs.close()
        assert peer.tenant.budget.left == before
        assert not peer.tenant.newcomers

    play(scene, monkeypatch)


def test_a_tenant_pays_for_those_that_are_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def scene(house: House) -> None:
        tenant = house.peers.enter(WHO).tenant

        def refuse(_: Identity) -> None:
            raise Rejection(RejectCode.FULL, "too many")

        monkeypatch.setattr(house.peers, "enter", refuse)
        clock = iter((1.0, 1.5))
        monkeypatch.setattr(time, "thread_time", lambda: next(clock))
        house.knock()[1].close()
        assert tenant.budget.left == pytest.approx(8.0 - 0.5)

    play(scene, monkeypatch)


def test_who_comes_to_a_tenant_without_a_budget_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[socket.socket] = []

    def scene(house: House) -> None:
        peer = house.peers.enter(WHO)
        peer.charge(asyncio.get_running_loop().time(), 9.0)
        for _ in range(65):
            is_in, theirs = house.knock()
            assert not is_in
            ends.append(theirs)
        # All but one too many are still there, and none is let in.
        with pytest.raises(BlockingIOError):
            ends[63].recv(1)
        assert ends[64].recv(1) == b""
        assert house.inside == []

    play(scene, monkeypatch)
    # At the end of the daemon they are let go.
    for end in ends:
        assert end.recv(1) == b""
        end.close()


def test_who_waits_comes_in_when_its_tenant_has_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[socket.socket] = []
    came: list[socket.socket] = []

    def scene(house: House) -> None:
        peer = house.peers.enter(WHO)
        peer.charge(asyncio.get_running_loop().time(), 9.0)
        ends.append(house.knock()[1])
        peer.tenant.budget.left = 1.0
        nonlocal came
        came = house.inside

    play(scene, monkeypatch)
    assert len(came) == 1
    ends[0].close()
