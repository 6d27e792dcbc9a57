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
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from nvshare.daemon.cpu_budget import CpuBudget
from nvshare.daemon.identity import Identity
from nvshare.daemon.logs import fields
from nvshare.daemon.reading import Rejection
from nvshare.settings import PeerSettings
from nvshare.wire.frames import RejectCode

log = logging.getLogger("nvshare.peers")

Done = TypeVar("Done")

# What a round of the event loop takes that is for somebody who waited for its turn: assumed.
_ROUND = 0.00006
# Who takes more than this of a stretch of time is pushy in it.
_STRETCH = 0.02
_PUSHY = 0.004
# Below a full budget by so much, a process has made work for the daemon lately.
_NOTICEABLE = 0.25
# Who has been there for so long, and takes no more than this of a core, does not pay for others of
# its tenant. An honest program takes a tenth of it.
_ESTABLISHED = 60.0
_CALM, _CALM_AT_ONCE = 0.002, 0.1
# Who has had no budget left for so long, all the time, is let go.
_PATIENCE = 60.0
# So many connections that are not read are enough for a process that has no budget; and so many
# that are not let in yet for a tenant.
_ENOUGH = 8
_ENOUGH_NEWCOMERS = 64
# How many of those that are gone are remembered before somebody looks which are.
_MANY = 256


class Reader(Protocol):
    """A connection that waits to be read."""

    def read_some(self) -> bool:
        """Read once; false: nothing is there, or it is closed."""

    def close(self, why: str) -> None:
        """End it."""


@dataclass(slots=True, eq=False)
class Tenant:
    """A container, or a user."""

    key: str
    budget: CpuBudget
    connections: int = 0
    # None: of somebody who is to be let in, and pays for that itself.
    queue: "deque[tuple[Peer | None, Reader]]" = field(default_factory=deque)
    newcomers: int = 0
    # It is to be served in the next round, or when it has a budget again.
    is_scheduled: bool = False


@dataclass(slots=True, eq=False)
class Peer:
    """A process."""

    who: Identity
    tenant: Tenant
    budget: CpuBudget
    # What it may take, and still be calm; and since when it has been here.
    calm: CpuBudget
    since: float
    connections: int = 0
    # How many of them wait in the queue.
    waiting: int = 0
    # What it has taken of the present stretch of time.
    stretch: float = 0.0
    taken: float = 0.0
    # Since when its budget has been used up.
    broke_since: float | None = None
    # People were told that it has all the connections that it may have.
    told_full: bool = False
    # The GPUs of which a client of it has left; and those to which one came with its gate open.
    left: set[str] = field(default_factory=set)
    resumed: set[str] = field(default_factory=set)

    @property
    def owner(self) -> str:
        """Who pays for the time that it holds a GPU: its container, or itself as its user's."""
        if self.who.container or not self.who.pid:
            return self.tenant.key
        return f"{self.tenant.key}/process {self.who.pid}-{self.who.started}"

    def arrive(self, gpu: str, *, resumes: bool) -> tuple[bool, bool]:
        """Become a client of a GPU; returns whether it returns, and whether it is doubted.

        That its gate is open is believed once: a daemon dies once for each process.
        """
        returns, doubted = gpu in self.left, resumes and gpu in self.resumed
        if resumes:
            self.resumed.add(gpu)
        return returns, doubted

    def depart(self, gpu: str) -> None:
        """Be a client of a GPU no more."""
        self.left.add(gpu)

    def charge(self, now: float, seconds: float) -> None:
        """Take note of time that it was given."""
        if now - self.stretch > _STRETCH:
            self.stretch, self.taken = now, 0.0
        self.taken += seconds
        self.budget.spend(now, seconds)
        self.calm.spend(now, seconds)
        self.tenant.budget.fill(now)
        before = self.tenant.budget.left
        self.tenant.budget.left -= seconds
        # However many calm ones there are, somebody else of theirs can still come in; and nobody
        # waits for long because of what others have done.
        least = min(before, 0.0) if self.is_calm(now) else -self.tenant.budget.most / 2
        self.tenant.budget.left = max(self.tenant.budget.left, least)

    def is_pushy(self, now: float) -> bool:
        """Whether others come first."""
        if self.taken > _PUSHY and now - self.stretch <= _STRETCH:
            return True
        if self.budget.left <= 0:
            return True
        return self.is_noticeable and self.tenant.budget.left <= 0

    @property
    def is_noticeable(self) -> bool:
        """Whether it has made work lately."""
        return self.budget.left < self.budget.most - _NOTICEABLE

    def is_calm(self, now: float) -> bool:
        """Whether it has been there for long, and takes next to nothing."""
        return now - self.since > _ESTABLISHED and self.calm.left > 0


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
        return peer is not None and peer.waiting >= _ENOUGH and peer.budget.left <= 0

    def has_to_wait(self, tenant: str) -> bool:
        """Whether nobody else of a tenant comes in for now."""
        found = self._tenants.get(tenant)
        if found is None:
            return False
        found.budget.fill(self._loop.time())
        return found.newcomers > 0 or found.budget.left <= 0

    def hold(self, tenant: str, reader: Reader) -> bool:
        """Have somebody wait who wants to come in: read when it may; false: enough wait already."""
        found = self._tenants[tenant]
        if found.newcomers >= _ENOUGH_NEWCOMERS:
            return False
        found.newcomers += 1
        found.queue.append((None, reader))
        self._schedule(found)
        return True

    def read(self, peer: Peer, reader: Reader) -> bool:
        """Have a connection read now; false: it has to wait, and is read when it is its turn."""
        # Of one process, what has come first is read first.
        if peer.waiting or peer.is_pushy(self._loop.time()):
            peer.waiting += 1
            self._waiters[peer.who.pid] = peer
            peer.tenant.queue.append((peer, reader))
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
            peer.charge(self._loop.time(), time.thread_time() - begin)

    def _find(self, who: Identity) -> Peer:
        key = (who.pid, who.started, who.uid)
        peer = self._peers.get(key)
        if peer is None:
            if len(self._peers) >= self._prune_at:
                self._prune()
            now, most = self._loop.time(), self._settings.burst
            budget = CpuBudget(self._settings.process_percent / 100, most, most, now)
            calm = CpuBudget(_CALM, _CALM_AT_ONCE, _CALM_AT_ONCE, now)
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
        now = self._loop.time()
        tenant.budget.fill(now)
        debt = tenant.budget.pause
        pauses = []
        for _ in range(len(tenant.queue)):
            peer, reader = tenant.queue.popleft()
            # Who has made no work waits for no budget but its own.
            pause = debt if peer is None or peer.is_noticeable else 0.0
            if peer is not None:
                pause = max(pause, self._debt(peer, reader, now))
            if pause > 0:
                pauses.append(pause)
                tenant.queue.append((peer, reader))
                continue
            tenant.budget.left -= _ROUND
            if peer is None:
                tenant.newcomers -= 1
                reader.read_some()
            elif self._read_in_turn(peer, reader):
                tenant.queue.append((peer, reader))
            pauses.clear()
            break
        if tenant.queue:
            self._schedule(tenant, min(pauses, default=0.0))

    def _read_in_turn(self, peer: Peer, reader: Reader) -> bool:
        """Read once; false: there was nothing, and it does not wait any more."""
        peer.budget.left -= _ROUND
        if self.timed(peer, reader.read_some):
            return True
        peer.waiting -= 1
        if not peer.waiting:
            self._waiters.pop(peer.who.pid, None)
        return False

    def _debt(self, peer: Peer, reader: Reader, now: float) -> float:
        """How long a process has to wait. It is said once; one that never stops is let go."""
        peer.budget.fill(now)
        pause = peer.budget.pause
        if pause <= 0:
            if peer.budget.left > _NOTICEABLE:
                peer.broke_since = None
            return 0.0
        if peer.broke_since is None:
            peer.broke_since = now
            log.warning(
                "a process takes more of the daemon's time than its part, and is slowed",
                extra=_named(peer),
            )
        if now - peer.broke_since > _PATIENCE:
            # It is in nobody's queue any more when it is asked to read, and has nothing to say.
            self._loop.call_soon(reader.close, "it has taken too much of the daemon's time")
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
