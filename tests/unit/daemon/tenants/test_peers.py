"""How the daemon's time is divided among peers, in the event loop's own order, without sockets."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from nvshare.daemon.tenants.cpu_budget import CpuBudget
from nvshare.daemon.tenants.identity import Identity
from nvshare.daemon.tenants.peer import Peer
from nvshare.daemon.tenants.peers import Peers
from nvshare.daemon.tenants.rejection import Rejection
from nvshare.settings import PeerSettings
from nvshare.wire.frames import RejectCode


def process(pid: int, uid: int = 1, container: str = "") -> Identity:
    return Identity(pid, uid, uid, "program", "", container, started=pid)


class Talker:
    """A connection with a number of messages, each at a fixed cost."""

    def __init__(self, peer: Peer, order: list[int], reads: int) -> None:
        self.peer = peer
        self.order = order
        self.left = reads
        self.closed: list[str] = []

    def read_some(self) -> bool:
        if self.left:
            self.left -= 1
            self.order.append(self.peer.who.pid)
            return True
        return False

    def close(self, why: str) -> None:
        self.closed.append(why)


USUAL = PeerSettings()


def play(scene: Callable[[Peers], None], settings: PeerSettings = USUAL) -> None:
    async def act() -> None:
        scene(Peers(asyncio.get_running_loop(), settings, max_clients=100))
        # As many rounds as any of the scenes needs.
        for _ in range(50):
            await asyncio.sleep(0)

    asyncio.run(act())


def test_a_process_has_so_many_connections() -> None:
    def scene(peers: Peers) -> None:
        first = peers.enter(process(7))
        peers.enter(process(7))
        assert peers.is_full(7)
        with pytest.raises(Rejection, match=r"pid 7.*process_connections is 2"):
            peers.enter(process(7))
        assert not peers.is_full(8)
        peers.enter(process(8))
        peers.leave(first)
        assert not peers.is_full(7)
        peers.enter(process(7))

    play(scene, PeerSettings(process_connections=2))


def take_all(peers: Peers, uid: int) -> int:
    """Take places for a user, one process each, until there are no more; return how many."""
    for own in range(1000):
        try:
            peers.enter(process(1000 * uid + own, uid))
        except Rejection:
            return own
    return 1000


def test_there_is_always_a_place_for_another_tenant() -> None:
    def scene(peers: Peers) -> None:
        taken = 0
        for uid in (1, 2, 3):
            own = take_all(peers, uid)
            taken += own
            assert own > 0
        assert taken < 100
        # A container is a tenant of its own, whatever users its processes have.
        peers.enter(process(9, 1, container="c"))

    play(scene)


def test_who_pushes_is_read_after_others_and_one_at_a_time() -> None:
    order: list[int] = []

    def scene(peers: Peers) -> None:
        loop = asyncio.get_running_loop()
        flood, calm = peers.enter(process(1)), peers.enter(process(2))
        flood.charge(loop.time(), 0.05)
        talkers = [Talker(flood, order, 2) for _ in range(2)]
        assert [peers.read(flood, talker) for talker in talkers] == [False, False]
        assert peers.read(calm, Talker(calm, order, 1))
        loop.call_soon(peers.read, calm, Talker(calm, order, 1))

    play(scene)
    assert order == [2, 1, 2, 1, 1, 1]


def test_who_has_used_up_its_budget_is_not_read_until_it_has_some_again() -> None:
    order: list[int] = []

    def scene(peers: Peers) -> None:
        now = asyncio.get_running_loop().time()
        flood, other = peers.enter(process(1)), peers.enter(process(2))
        flood.charge(now, 5.0)
        assert not peers.read(flood, Talker(flood, order, 1))
        assert peers.read(other, Talker(other, order, 1))
        # It does not help to come again, and again.
        for _ in range(8):
            peers.read(flood, Talker(flood, order, 1))
        assert peers.is_full(1)
        assert not peers.is_full(2)
        again = peers.enter(process(1))
        assert again is flood
        assert flood.budget.pause == pytest.approx(10, rel=0.1)

    play(scene)
    assert order == [2]


def test_a_process_is_looked_at_once_however_many_connections_of_it_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order: list[int] = []
    looks: list[int] = []

    def scene(peers: Peers) -> None:
        debt = peers._debt

        def count(peer: Peer, now: float) -> float:
            looks.append(peer.who.pid)
            return debt(peer, now)

        monkeypatch.setattr(peers, "_debt", count)
        flood = peers.enter(process(1))
        flood.charge(asyncio.get_running_loop().time(), 5.0)
        for _ in range(500):
            peers.read(flood, Talker(flood, order, 1))

    play(scene)
    assert order == []
    assert looks == [1]


def test_processes_of_one_tenant_take_turns_however_many_connections_they_have() -> None:
    order: list[int] = []

    def scene(peers: Peers) -> None:
        now = asyncio.get_running_loop().time()
        many, one = peers.enter(process(1)), peers.enter(process(2))
        for peer in (many, one):
            peer.charge(now, 0.05)
        for _ in range(3):
            peers.read(many, Talker(many, order, 1))
        peers.read(one, Talker(one, order, 2))

    play(scene)
    assert order == [1, 2, 1, 2, 1]


def test_one_that_was_without_a_budget_needs_no_more_connections() -> None:
    """It has some budget now and then, and others would come in each time."""

    def scene(peers: Peers) -> None:
        now = asyncio.get_running_loop().time()
        flood, honest = peers.enter(process(1)), peers.enter(process(2))
        for peer in (flood, honest):
            peer.charge(now, 0.05)
            for _ in range(8):
                peers.read(peer, Talker(peer, [], 1))
        flood.broke_since = now
        assert peers.is_full(1)
        assert not peers.is_full(2)

    play(scene)


def test_who_never_stops_is_let_go_with_all_that_waits() -> None:
    talkers: list[Talker] = []

    def scene(peers: Peers) -> None:
        now = asyncio.get_running_loop().time()
        flood = peers.enter(process(1))
        flood.charge(now, 5.0)
        flood.broke_since = now - 61
        for _ in range(3):
            talkers.append(Talker(flood, [], 1))
            peers.read(flood, talkers[-1])

    play(scene)
    assert [len(talker.closed) for talker in talkers] == [1, 1, 1]


def test_a_tenant_without_a_budget_holds_up_those_who_made_work() -> None:
    def scene(peers: Peers) -> None:
        now = asyncio.get_running_loop().time()
        busy, calm = peers.enter(process(1)), peers.enter(process(2))
        for pid in range(10, 20):
            peers.enter(process(pid)).charge(now, 1.0)
        busy.charge(now - 1, 0.5)
        assert busy.tenant.budget.left < 0
        assert busy.is_pushy(now)
        assert not calm.is_pushy(now)
        assert not peers.enter(process(3, uid=9)).is_pushy(now)

    play(scene)


def test_who_forks_has_no_more_than_its_tenant() -> None:
    """Each process is new and has done next to nothing, but all of them together have done much."""

    def scene(peers: Peers) -> None:
        now = asyncio.get_running_loop().time()
        old = peers.enter(process(1))
        for pid in range(10, 200):
            child = peers.enter(process(pid))
            child.charge(now, 0.1)
            peers.leave(child)
        assert not old.is_pushy(now)
        assert peers.has_to_wait("user 1"), "no new one comes in"
        assert not peers.has_to_wait("user 9")

    play(scene)


def test_who_has_made_no_work_does_not_wait_for_the_debts_of_others() -> None:
    order: list[int] = []

    def scene(peers: Peers) -> None:
        now = asyncio.get_running_loop().time()
        quiet, busy = peers.enter(process(1)), peers.enter(process(2))
        for pid in range(10, 30):
            peers.enter(process(pid)).charge(now, 1.0)
        busy.charge(now, 0.3)
        # It has only said much in the last milliseconds.
        quiet.charge(now, 0.01)
        assert busy.is_pushy(now)
        assert quiet.is_pushy(now)
        assert not peers.read(busy, Talker(busy, order, 1))
        assert not peers.read(quiet, Talker(quiet, order, 1))
        # No peer waits for longer than that for the use of others.
        assert quiet.tenant.budget.pause <= 30.0

    play(scene)
    assert order == [1]


def test_a_thousand_calm_processes_keep_no_other_of_theirs_out() -> None:
    def scene(peers: Peers) -> None:
        now = asyncio.get_running_loop().time()
        crowd = [peers.enter(process(pid)) for pid in range(1, 60)]
        for peer in crowd:
            peer.since = now - 100
        for second in range(200):
            for peer in crowd:
                # Together they take a fifth of a core in each second, and a bit more.
                peer.calm.left = 0.1
                peer.charge(now + second, 0.005)
        assert -0.01 < crowd[0].tenant.budget.left < 0.21

    play(scene)


def test_who_comes_waits_while_its_tenant_has_no_budget() -> None:
    order: list[int] = []

    def scene(peers: Peers) -> None:
        now = asyncio.get_running_loop().time()
        flood, other = peers.enter(process(1)), peers.enter(process(2, uid=9))
        assert not peers.has_to_wait("user 1")
        flood.charge(now, 9.0)
        assert peers.has_to_wait("user 1")
        assert not peers.has_to_wait("user 9")
        assert not peers.has_to_wait("user nobody has heard of")
        newcomer = Talker(other, order, 1)
        assert [peers.delay("user 1", newcomer) for _ in range(65)] == [True] * 64 + [False]

    play(scene)
    assert order == []


def test_who_waits_at_the_door_comes_in_when_there_is_a_budget_again() -> None:
    order: list[int] = []

    def scene(peers: Peers) -> None:
        now = asyncio.get_running_loop().time()
        flood = peers.enter(process(1))
        flood.charge(now, 9.0)
        peers.delay("user 1", Talker(flood, order, 1))
        flood.tenant.budget.left = 1.0
        assert peers.has_to_wait("user 1"), "nobody overtakes those who wait"

    play(scene)
    assert order == [1]


def test_a_budget_fills_up_to_its_most() -> None:
    budget = CpuBudget(rate=0.1, most=2.0, left=-1.0, at=5.0)
    assert budget.pause == pytest.approx(10)
    budget.fill(20.0)
    assert budget.left == pytest.approx(0.5)
    budget.fill(1000.0)
    assert budget.left == 2.0


def test_those_that_are_gone_are_forgotten() -> None:
    def scene(peers: Peers) -> None:
        for pid in range(5000):
            peers.leave(peers.enter(process(pid + 10**9)))
        assert len(peers._peers) <= 512

    play(scene)


def test_one_who_cannot_be_seen_is_not_let_in() -> None:
    def scene(peers: Peers) -> None:
        hidden = replace(process(7), is_known=False)
        with pytest.raises(Rejection, match="cannot identify this process") as caught:
            peers.enter(hidden)
        assert caught.value.code is RejectCode.PERMISSION
        # In a container that we cannot see into. On a node of a cluster we can see into all.
        elsewhere = Identity(0, 0, 0)
        peers.enter(elsewhere)
        peers.must_see = True
        with pytest.raises(Rejection, match="cannot identify this process"):
            peers.enter(elsewhere)

    play(scene)
