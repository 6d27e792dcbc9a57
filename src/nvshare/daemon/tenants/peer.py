"""A connected process and its tenant: what each has taken of the daemon, and what it may take.

A tenant is a container, or a user outside of containers (identity.py). peers.py decides which
connection is read when, and which gets a place.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Protocol

from nvshare.daemon.tenants.cpu_budget import CpuBudget
from nvshare.daemon.tenants.identity import Identity

# A process that takes more than _PUSHY of a stretch of time is pushy in it.
_STRETCH = 0.02
_PUSHY = 0.004
# A process this far below a full budget has made work for the daemon lately.
NOTICEABLE = 0.25
# A process that has been connected for this time, and takes no more than this of a core, does not
# pay for others of its tenant. An honest program takes a tenth of it.
_ESTABLISHED = 60.0
CALM, CALM_AT_ONCE = 0.002, 0.1


class Reader(Protocol):
    """A connection that waits to be read."""

    def read_some(self) -> bool:
        """Read once; false: there is nothing to read, or it is closed."""

    def close(self, why: str) -> None:
        """End the connection."""


@dataclass(slots=True, eq=False)
class Tenant:
    """A container, or a user."""

    key: str
    budget: CpuBudget
    connections: int = 0
    # Connections that wait to be let in; and the processes with connections that wait to be read,
    # in the order in which they are read. There, None stands for the newcomers.
    newcomers: "deque[Reader]" = field(default_factory=deque)
    queue: "deque[Peer | None]" = field(default_factory=deque)
    # It will be served in the next round, or when it has a budget again.
    is_scheduled: bool = False


@dataclass(slots=True, eq=False)
class Peer:
    """A process."""

    who: Identity
    tenant: Tenant
    budget: CpuBudget
    # What it may take and still be calm; and when it came.
    calm: CpuBudget
    since: float
    connections: int = 0
    # Its connections that wait to be read, in the order of arrival.
    waiting: "deque[Reader]" = field(default_factory=deque)
    # The present stretch of time, and what the process has taken in it.
    stretch: float = 0.0
    taken: float = 0.0
    # Since when its budget has been used up.
    broke_since: float | None = None
    # It was logged that it has all the connections that it may have.
    told_full: bool = False
    # The GPUs that a client of it has left; and those that one has joined with its gate open.
    left: set[str] = field(default_factory=set)
    resumed: set[str] = field(default_factory=set)

    @property
    def owner(self) -> str:
        """The payer for the time that it holds a GPU: its container, or itself as its user's."""
        if self.who.container or not self.who.pid:
            return self.tenant.key
        return f"{self.tenant.key}/process {self.who.pid}-{self.who.started}"

    def arrive(self, gpu: str, *, resumes: bool) -> tuple[bool, bool]:
        """Become a client of a GPU; return whether it has been one before, and is doubted.

        An open gate is believed once: a process can bring it from an earlier daemon only once.
        """
        returns, doubted = gpu in self.left, resumes and gpu in self.resumed
        if resumes:
            self.resumed.add(gpu)
        return returns, doubted

    def depart(self, gpu: str) -> None:
        """Stop being a client of a GPU."""
        self.left.add(gpu)

    def charge(self, now: float, seconds: float) -> None:
        """Charge the process for time that the daemon spent on it."""
        if now - self.stretch > _STRETCH:
            self.stretch, self.taken = now, 0.0
        self.taken += seconds
        self.budget.spend(now, seconds)
        self.calm.spend(now, seconds)
        self.tenant.budget.fill(now)
        before = self.tenant.budget.left
        self.tenant.budget.left -= seconds
        # However many calm processes there are, another one of their tenant can still come in; and
        # no process waits for long because of others.
        least = min(before, 0.0) if self.is_calm(now) else -self.tenant.budget.most / 2
        self.tenant.budget.left = max(self.tenant.budget.left, least)

    def is_pushy(self, now: float) -> bool:
        """Whether other processes are read first."""
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
        """Whether it has been connected for long, and takes next to nothing."""
        return now - self.since > _ESTABLISHED and self.calm.left > 0
