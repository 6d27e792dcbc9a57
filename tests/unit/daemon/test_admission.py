"""Who is let in, who waits, and who is sent away; with sockets, and without a daemon."""

import asyncio
import socket
from collections.abc import Callable

import pytest

from nvshare.daemon import admission as admission_module
from nvshare.daemon.admission import Admission
from nvshare.daemon.identity import Identity, Visitor
from nvshare.daemon.peers import Peers
from nvshare.daemon.reading import Rejection
from nvshare.settings import PeerSettings
from nvshare.wire.codec import daemon_frames
from nvshare.wire.frames import Reject, RejectCode

WHO = Identity(7, 1, 1, "program", started=70)
SEEN = Visitor(7, 1, 1, "0::/")


class House:
    """An admission, and who has come in by it."""

    def __init__(self) -> None:
        self.peers = Peers(asyncio.get_running_loop(), PeerSettings(), max_clients=100)
        self.admission = Admission(self.peers, self.begin)
        self.inside: list[socket.socket] = []
        self.looked = 0

    def begin(self, sock: socket.socket, seen: Visitor) -> None:
        assert seen == SEEN
        self.peers.enter(WHO)
        self.inside.append(sock)

    def knock(self) -> tuple[bool, socket.socket]:
        """Connect; returns whether it was let in, and the other end."""
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        return self.admission.connect(ours), theirs


def play(scene: Callable[[House], None], monkeypatch: pytest.MonkeyPatch) -> None:
    async def act() -> None:
        house = House()

        def glance(_: socket.socket) -> Visitor:
            house.looked += 1
            return SEEN

        monkeypatch.setattr(admission_module, "glance", glance)
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


def test_who_comes_to_a_tenant_without_a_budget_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[socket.socket] = []

    def scene(house: House) -> None:
        peer = house.peers.enter(WHO)
        peer.charge(asyncio.get_running_loop().time(), 9.0)
        for _ in range(65):
            is_in, theirs = house.knock()
            assert not is_in
            ends.append(theirs)
        # All but one too many are still there, and nobody is in.
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
