"""How much of the daemon each process, and each tenant, may take: places, and time.

A tenant is a container, or a user outside of containers (identity.py). Each pays for its own use: a
tenant that floods the daemon waits, and others are served as if it were not there.

* Places: the connections of a process are bounded. When few places are free, a tenant may have no
  more of them than are left for others, so that a newcomer always finds one.
* Turns to be read: the daemon measures the time that it spends on each process's frames. A process
  that takes much of it waits in a queue of its tenant (``Peer.is_pushy``), and each round of the
  event loop reads one connection of each queue. So a tenant that floods delays the loop by one read
  at most. While no other process wants anything, none is slowed.
* Time over the long run: process and tenant each have a budget of the daemon's time, which fills up
  slowly. A process that has used up its own is not read until it has some again; if it does not
  stop for long, it is disconnected. Honest programs use a thousandth of their budget. When a
  tenant's budget is used up, its processes that have made work wait, and its newcomers wait to be
  let in: so forking does not help. A process that has been connected for a minute and takes next to
  nothing makes no other wait: there may be a thousand honest ones.

The kernel identifies a process (identity.py), so reconnecting changes nothing. Whether frames make
sense is not judged here.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from nvshare.daemon.logs import fields
from nvshare.daemon.tenants.cpu_budget import CpuBudget
from nvshare.daemon.tenants.identity import Identity
from nvshare.daemon.tenants.peer import CALM, CALM_AT_ONCE, NOTICEABLE, Peer, Reader, Tenant
from nvshare.daemon.tenants.rejection import Rejection
from nvshare.settings import PeerSettings
from nvshare.wire.frames import RejectCode

log = logging.getLogger("nvshare.peers")

Done = TypeVar("Done")

# The cost of a round of the event loop that serves a queue: assumed.
_ROUND = 0.00006
# The shortest wait for a budget: looking sooner would cost more than the budget has gained.
_SHORTEST_PAUSE = 0.005
# A process without any budget left for this time, without a break, is disconnected.
_PATIENCE = 60.0
# The most unread connections of a process without a budget; and the most connections of a tenant
# that wait to be let in.
_ENOUGH = 8
_ENOUGH_NEWCOMERS = 64
# How many processes are remembered before those that are gone are dropped.
_MANY = 256


class Peers:
    """All processes that are connected, or were lately."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, settings: PeerSettings, max_clients: int
    ) -> None:
        self._loop = loop
        self._settings = settings
        self._max_clients = max_clients
        self._peers: dict[tuple[int, int, int], Peer] = {}
        self._tenants: dict[str, Tenant] = {}
        self._connections = 0
        # The pids of processes that have as many connections as they may.
        self._full: set[int] = set()
        # By pid, the processes with connections that wait to be read.
        self._waiters: dict[int, Peer] = {}
        self._prune_at = _MANY
        # Whether every process that connects can be seen, as on a node of a cluster.
        self.must_see = False

    def enter(self, who: Identity) -> Peer:
        """Give a connection a place, or refuse it.

        A process of an unknown container would count as in none, and escape the limits of its pod.
        """
        if not who.is_known or (self.must_see and not who.pid):
            text = "the daemon cannot identify this process: it has ended, or /proc hides it"
            raise Rejection(RejectCode.PERMISSION, text)
        peer = self._find(who)
        free, reserve = self._max_clients - self._connections, self._max_clients // 4
        if peer.connections >= self._settings.process_connections:
            self._refuse(peer, "process_connections", self._settings.process_connections)
        if reserve and free <= reserve and peer.tenant.connections > max(free, 0):
            self._refuse(peer, "the rest of max_clients for other users", max(free, 0))
        peer.connections += 1
        peer.tenant.connections += 1
        self._connections += 1
        if who.pid and peer.connections >= self._settings.process_connections:
            self._note_full(peer)
        return peer

    def _note_full(self, peer: Peer) -> None:
        self._full.add(peer.who.pid)
        if not peer.told_full:
            peer.told_full = True
            log.warning(
                "a process has the most connections that process_connections allows",
                extra=_named(peer, connections=peer.connections),
            )

    def leave(self, peer: Peer) -> None:
        """Note the end of a connection."""
        self._full.discard(peer.who.pid)
        peer.connections -= 1
        peer.tenant.connections -= 1
        self._connections -= 1

    def is_full(self, pid: int) -> bool:
        """Whether a process surely has all its connections. This costs next to nothing.

        The process is not identified yet; but a pid with open connections still belongs to the
        process that made them. Without a budget, and with connections that wait to be read, it
        needs no more of them.
        """
        if pid in self._full:
            return True
        peer = self._waiters.get(pid)
        if peer is None or len(peer.waiting) < _ENOUGH:
            return False
        # A process that has just got some budget again is about to be read.
        return peer.budget.left <= 0 or peer.broke_since is not None

    def has_to_wait(self, tenant: str) -> bool:
        """Whether newcomers of a tenant have to wait for now."""
        found = self._tenants.get(tenant)
        if found is None:
            return False
        found.budget.fill(self._loop.time())
        return bool(found.newcomers) or found.budget.left <= 0

    def delay(self, tenant: str, reader: Reader) -> bool:
        """Queue a newcomer, which is read when it may come in; false: enough wait already."""
        found = self._tenants[tenant]
        if len(found.newcomers) >= _ENOUGH_NEWCOMERS:
            return False
        if not found.newcomers:
            found.queue.append(None)
        found.newcomers.append(reader)
        self._schedule(found)
        return True

    def read(self, peer: Peer, reader: Reader) -> bool:
        """Read a connection now; false: it has to wait, and is read in its turn."""
        # The connections of one process are read in the order of arrival.
        if peer.waiting or peer.is_pushy(self._loop.time()):
            if not peer.waiting:
                self._waiters[peer.who.pid] = peer
                peer.tenant.queue.append(peer)
            peer.waiting.append(reader)
            self._schedule(peer.tenant)
            return False
        self.timed(peer, reader.read_some)
        return True

    def timed(self, peer: Peer, work: Callable[[], Done]) -> Done:
        """Do work for a process, and charge it for that."""
        # CPU time of this thread: other load on the machine is not charged.
        begin = time.thread_time()
        try:
            return work()
        finally:
            self.charge(peer, begin)

    def charge(self, peer: Peer, begin: float) -> None:
        """Charge a process for the CPU time of this thread since ``begin``."""
        peer.charge(self._loop.time(), time.thread_time() - begin)

    def charge_tenant(self, tenant: str, begin: float) -> None:
        """Charge the tenant for a process that was turned away."""
        found = self._tenants.get(tenant)
        if found is not None:
            found.budget.spend(self._loop.time(), time.thread_time() - begin)

    def _find(self, who: Identity) -> Peer:
        key = (who.pid, who.started, who.uid)
        peer = self._peers.get(key)
        if peer is None:
            if len(self._peers) >= self._prune_at:
                self._prune()
            now, most = self._loop.time(), self._settings.burst
            budget = CpuBudget(self._settings.process_percent / 100, most, most, now)
            calm = CpuBudget(CALM, CALM_AT_ONCE, CALM_AT_ONCE, now)
            peer = self._peers[key] = Peer(who, self._tenant(who, now), budget, calm, now)
        return peer

    def _tenant(self, who: Identity, now: float) -> Tenant:
        key = who.tenant
        tenant = self._tenants.get(key)
        if tenant is None:
            most = 2 * self._settings.burst
            budget = CpuBudget(self._settings.tenant_percent / 100, most, most, now)
            tenant = self._tenants[key] = Tenant(key, budget)
        return tenant

    def _refuse(self, peer: Peer, what: str, most: int) -> None:
        text = f"{peer.who.program} (pid {peer.who.pid}) has {peer.connections} connections, "
        text += f"{peer.tenant.key} has {peer.tenant.connections}: {what} is {most}"
        raise Rejection(RejectCode.FULL, text)

    def _schedule(self, tenant: Tenant, pause: float = 0.0) -> None:
        if tenant.is_scheduled:
            return
        tenant.is_scheduled = True
        if pause > 0:
            self._loop.call_later(pause, self._serve, tenant)
        else:
            # In the next round: others are read first.
            self._loop.call_soon(self._serve, tenant)

    def _serve(self, tenant: Tenant) -> None:
        """Read one connection of a process with a budget; come back for the others."""
        tenant.is_scheduled = False
        begin, now = time.thread_time(), self._loop.time()
        tenant.budget.fill(now)
        pause = self._read_first(tenant, now)
        # The cost of this round; the read itself has been charged.
        tenant.budget.left -= _ROUND
        if pause > 0:
            tenant.budget.left -= time.thread_time() - begin
        if tenant.queue:
            self._schedule(tenant, pause)

    def _read_first(self, tenant: Tenant, now: float) -> float:
        """Read a connection of the first process that may be read.

        Returns 0; or the time until one may be read.
        """
        debt, pauses = tenant.budget.pause, []
        for _ in range(len(tenant.queue)):
            peer = tenant.queue.popleft()
            # A process that has made no work waits for its own budget only.
            pause = debt if peer is None or peer.is_noticeable else 0.0
            if peer is not None:
                pause = max(pause, self._debt(peer, now))
            if pause > 0:
                if peer is None or peer.waiting:
                    tenant.queue.append(peer)
                    pauses.append(pause)
                continue
            if self._let_in(tenant) if peer is None else self._read_in_turn(peer):
                tenant.queue.append(peer)
            return 0.0
        return max(_SHORTEST_PAUSE, min(pauses, default=0.0))

    def _let_in(self, tenant: Tenant) -> bool:
        """Let a newcomer in; false: it was the last one."""
        tenant.newcomers.popleft().read_some()
        return bool(tenant.newcomers)

    def _read_in_turn(self, peer: Peer) -> bool:
        """Read a connection of a process once; false: none waits any more."""
        peer.budget.left -= _ROUND
        reader = peer.waiting.popleft()
        if self.timed(peer, reader.read_some):
            peer.waiting.append(reader)
        return self._waits_still(peer)

    def _waits_still(self, peer: Peer) -> bool:
        if not peer.waiting:
            self._waiters.pop(peer.who.pid, None)
        return bool(peer.waiting)

    def _debt(self, peer: Peer, now: float) -> float:
        """Return how long a process has to wait. Log it once; disconnect one that never stops."""
        peer.budget.fill(now)
        pause = peer.budget.pause
        if pause <= 0:
            if peer.budget.left > NOTICEABLE:
                peer.broke_since = None
            return 0.0
        if peer.broke_since is None:
            peer.broke_since = now
            log.warning(
                "a process takes more than its part of the daemon's time, and is slowed down",
                extra=_named(peer),
            )
        if now - peer.broke_since > _PATIENCE:
            while peer.waiting:
                # Later: ending a connection may change the queues.
                reason = "it has taken too much of the daemon's time"
                self._loop.call_soon(peer.waiting.popleft().close, reason)
            self._waits_still(peer)
        return pause

    def _prune(self) -> None:
        """Forget processes that are gone and owe nothing."""
        now = self._loop.time()
        for key, peer in list(self._peers.items()):
            peer.budget.fill(now)
            is_quiet = not peer.connections and peer.budget.left >= peer.budget.most
            if is_quiet and not ((peer.left or peer.resumed) and _lives(peer.who)):
                del self._peers[key]
        used = {peer.tenant.key for peer in self._peers.values()}
        for name, tenant in list(self._tenants.items()):
            tenant.budget.fill(now)
            is_quiet = not tenant.queue and tenant.budget.left >= tenant.budget.most
            if name not in used and is_quiet:
                del self._tenants[name]
        self._prune_at = max(_MANY, 2 * len(self._peers))


def _named(peer: Peer, **more: Any) -> dict[str, Any]:
    who = peer.who
    return fields(pid=who.pid, uid=who.uid, program=who.program, tenant=peer.tenant.key, **more)


def _lives(who: Identity) -> bool:
    return Path(f"/proc/{who.pid}").exists()
