"""One process that is connected, and the tenant that it belongs to: what each has taken, and may.

A tenant is a container, or a user outside of containers (identity.py). Who is read when, and who
gets a place, is decided in peers.py.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Protocol

from nvshare.daemon.cpu_budget import CpuBudget
from nvshare.daemon.identity import Identity

# Who takes more than this of a stretch of time is pushy in it.
_STRETCH = 0.02
_PUSHY = 0.004
# Below a full budget by so much, a process has made work for the daemon lately.
NOTICEABLE = 0.25
# Who has been there for so long, and takes no more than this of a core, does not pay for others of
# its tenant. An honest program takes a tenth of it.
_ESTABLISHED = 60.0
CALM, CALM_AT_ONCE = 0.002, 0.1


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
    # Those who wait to be let in; and the processes with connections that wait to be read, in the
    # order in which they are read. None stands for those who wait to be let in.
    newcomers: "deque[Reader]" = field(default_factory=deque)
    queue: "deque[Peer | None]" = field(default_factory=deque)
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
    # Those of them that wait to be read, in the order in which they came.
    waiting: "deque[Reader]" = field(default_factory=deque)
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
        return self.budget.left < self.budget.most - NOTICEABLE

    def is_calm(self, now: float) -> bool:
        """Whether it has been there for long, and takes next to nothing."""
        return now - self.since > _ESTABLISHED and self.calm.left > 0
