"""How much of the daemon each process, and each tenant, may take: places, and time.

A tenant is a container, or a user outside of containers (identity.py). What one takes is its own:
who floods the daemon waits, and others are served as if it were not there.

* Places: a process has a number of connections at most. When few places are free, a tenant may have
  no more of them than are left for others, so that somebody who comes always finds one.
* Turns to be read: the daemon measures the time that it spends on what each process sends. One that
  takes much of it waits in a queue of its tenant (``Peer.is_pushy``), and of each queue one
  connection is read in each round of the event loop. The loop is never held up for longer than one
  read takes, for each tenant that floods. While nobody else wants anything, nobody is slowed.
* Time over the long run: two budgets of the daemon's time, of the process and of the tenant, which
  fill up slowly. Who has used up its own is not read until it has some again; who does not stop for
  long is let go. Honest programs use a thousandth of theirs. When a tenant's is used up, those of
  its processes that have made work wait, and those that come wait to be let in: so it does not
  help to fork. What processes take that have been there for a minute, and take next to nothing,
  lets nobody wait: there may be a thousand of those who mean well.

Who a process is comes from the kernel (identity.py), so to connect again changes nothing. Which
frames make sense is not judged here.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from nvshare.daemon.cpu_budget import CpuBudget
from nvshare.daemon.identity import Identity
from nvshare.daemon.logs import fields
from nvshare.daemon.peer import CALM, CALM_AT_ONCE, NOTICEABLE, Peer, Reader, Tenant
from nvshare.daemon.reading import Rejection
from nvshare.settings import PeerSettings
from nvshare.wire.frames import RejectCode

log = logging.getLogger("nvshare.peers")

Done = TypeVar("Done")

# What a round of the event loop takes that is for somebody who waited for its turn: assumed.
_ROUND = 0.00006
# Who has to wait for a budget waits for so long at least: to look sooner would cost more than what
# it may use by then.
_SHORTEST_PAUSE = 0.005
# Who has had no budget left for so long, all the time, is let go.
_PATIENCE = 60.0
# So many connections that are not read are enough for a process that has no budget; and so many
# that are not let in yet for a tenant.
_ENOUGH = 8
_ENOUGH_NEWCOMERS = 64
# How many of those that are gone are remembered before somebody looks which are.
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
        # By pid, those that have as many connections as they may.
        self._full: set[int] = set()
        # By pid, those with connections that wait to be read.
        self._waiters: dict[int, Peer] = {}
        self._prune_at = _MANY
        # Whether all processes that may come can be seen, as on a node of a cluster.
        self.must_see = False

    def enter(self, who: Identity) -> Peer:
        """Take a connection in, or refuse it a place.

        One whose container is not known would be in none, and the limits of its pod would not hold.
        """
        if not who.is_known or (self.must_see and not who.pid):
            text = "the daemon cannot see which process this is: it has ended, or /proc hides it"
            raise Rejection(RejectCode.PERMISSION, text)
        peer = self._find(who)
        free, reserve = self._max_clients - self._connections, self._max_clients // 4
        if peer.connections >= self._settings.process_connections:
            self._refuse(peer, "process_connections", self._settings.process_connections)
        if reserve and free <= reserve and peer.tenant.connections > max(free, 0):
            self._refuse(peer, "what is left for others of max_clients", max(free, 0))
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
                "a process has as many connections as it may: process_connections",
                extra=_named(peer, connections=peer.connections),
            )

    def leave(self, peer: Peer) -> None:
        """Take note of the end of a connection."""
        self._full.discard(peer.who.pid)
        peer.connections -= 1
        peer.tenant.connections -= 1
        self._connections -= 1

    def is_full(self, pid: int) -> bool:
        """Whether a process surely has all its connections. This costs next to nothing.

        Nobody has looked yet who it is; but one that has connections open is the one that made
        them. Who has no budget left, and some that wait to be read, needs no more of them.
        """
        if pid in self._full:
            return True
        peer = self._waiters.get(pid)
        if peer is None or len(peer.waiting) < _ENOUGH:
            return False
        # One that has had none, and has just got some, is about to be read.
        return peer.budget.left <= 0 or peer.broke_since is not None

    def has_to_wait(self, tenant: str) -> bool:
        """Whether nobody else of a tenant comes in for now."""
        found = self._tenants.get(tenant)
        if found is None:
            return False
        found.budget.fill(self._loop.time())
        return bool(found.newcomers) or found.budget.left <= 0

    def hold(self, tenant: str, reader: Reader) -> bool:
        """Have somebody wait who wants to come in: read when it may; false: enough wait already."""
        found = self._tenants[tenant]
        if len(found.newcomers) >= _ENOUGH_NEWCOMERS:
            return False
        if not found.newcomers:
            found.queue.append(None)
        found.newcomers.append(reader)
        self._schedule(found)
        return True

    def read(self, peer: Peer, reader: Reader) -> bool:
        """Have a connection read now; false: it has to wait, and is read when it is its turn."""
        # Of one process, what has come first is read first.
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
        # Of this thread, not of the clock: what others do on the machine is nobody's fault here.
        begin = time.thread_time()
        try:
            return work()
        finally:
            self.charge(peer, begin)

    def charge(self, peer: Peer, begin: float) -> None:
        """Charge a process for all that this thread has done since then."""
        peer.charge(self._loop.time(), time.thread_time() - begin)

    def charge_tenant(self, tenant: str, begin: float) -> None:
        """The same for one that was turned away, which its tenant pays for."""
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
            # Not in this round: others are read before.
            self._loop.call_soon(self._serve, tenant)

    def _serve(self, tenant: Tenant) -> None:
        """Read one connection of those who have a budget; come back for the others."""
        tenant.is_scheduled = False
        begin, now = time.thread_time(), self._loop.time()
        tenant.budget.fill(now)
        pause = self._read_first(tenant, now)
        # What looking has cost; what was read has been charged.
        tenant.budget.left -= _ROUND
        if pause > 0:
            tenant.budget.left -= time.thread_time() - begin
        if tenant.queue:
            self._schedule(tenant, pause)

    def _read_first(self, tenant: Tenant, now: float) -> float:
        """Read a connection of the first process that may be read.

        Returns 0; or how long it takes until the next one may be.
        """
        debt, pauses = tenant.budget.pause, []
        for _ in range(len(tenant.queue)):
            peer = tenant.queue.popleft()
            # Who has made no work waits for no budget but its own.
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
        """Let one in that waits for that; false: it was the last one."""
        tenant.newcomers.popleft().read_some()
        return bool(tenant.newcomers)

    def _read_in_turn(self, peer: Peer) -> bool:
        """Read a connection once; false: none of its process waits any more."""
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
        """How long a process has to wait. It is said once; one that never stops is let go."""
        peer.budget.fill(now)
        pause = peer.budget.pause
        if pause <= 0:
            if peer.budget.left > NOTICEABLE:
                peer.broke_since = None
            return 0.0
        if peer.broke_since is None:
            peer.broke_since = now
            log.warning(
                "a process takes more of the daemon's time than its part, and is slowed",
                extra=_named(peer),
            )
        if now - peer.broke_since > _PATIENCE:
            while peer.waiting:
                # Later: what follows from the end of one may change the queues.
                reason = "it has taken too much of the daemon's time"
                self._loop.call_soon(peer.waiting.popleft().close, reason)
            self._waits_still(peer)
        return pause

    def _prune(self) -> None:
        """Forget those that are gone, and owe nothing."""
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
