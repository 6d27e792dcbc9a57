"""A client: what is known of one process on one GPU from its HELLO to its end.

What it says comes through session.py, and is handled by frame_events.py.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from nvshare.core import effects
from nvshare.daemon.clients.allocation import Decision
from nvshare.daemon.clients.counters import Counters
from nvshare.daemon.clients.last_minute import LastMinute
from nvshare.daemon.clients.use_history import UseHistory
from nvshare.daemon.clients.wait_notice import WaitNotice
from nvshare.daemon.gpus.survey import Gpu
from nvshare.daemon.groups.groups import Group
from nvshare.daemon.sockets.connection import Connection
from nvshare.daemon.tenants.identity import Identity
from nvshare.daemon.tenants.peer import Peer
from nvshare.wire import frames

YES, TOO_LARGE = effects.Verdict.YES, effects.Verdict.TOO_LARGE


@dataclass(slots=True, eq=False)
class Client:
    """A registered client. The core's orders reach it as a Recipient of executor.py."""

    id: int
    gpu: Gpu
    group: Group
    identity: Identity
    peer: Peer
    hello: frames.Hello
    # How it allocates, and why.
    decision: Decision
    since: float
    # The memory that it does not report: its context, its modules, and what its pools keep.
    context: int
    connection: Connection
    wait: WaitNotice
    # Passes a report of the core on to its users.
    tell_users: Callable[["Client", effects.Report], None]
    slot_key: int = 0
    pinned_by: dict[str, int] = field(default_factory=dict)
    counters: Counters = field(default_factory=Counters)
    history: UseHistory = field(default_factory=UseHistory)
    last_minute: LastMinute = field(default_factory=LastMinute)
    used_ns: int = 0
    # The unanswered request for a context, and the context that counted before it.
    context_ticket: int = 0
    context_before: int = 0

    @property
    def log_fields(self) -> dict[str, Any]:
        """Its fields in the log."""
        return {"client": self.id, **self.identity.log_fields}

    def send(self, frame: frames.FromDaemon, descriptor: int = -1) -> None:
        """Send a frame."""
        self.connection.send(frame.pack(), descriptor)

    def granted(self, now: float) -> None:
        """Note a turn that it was granted."""
        self.counters.begin_turn(now)
        self.wait.end()

    def answered(self, answer: effects.Answer) -> None:
        """Note an answer: a refused context is not there."""
        # A client that mixes kinds is about to get the memory in another way.
        mixes = self.decision.may_mix and answer.verdict is TOO_LARGE
        if answer.verdict is not YES and not mixes:
            self.counters.refuse(answer.verdict)
        if answer.ticket == self.context_ticket:
            self.context_ticket = 0
            if answer.verdict is not YES:
                self.context = self.context_before

    def reported(self, report: effects.Report) -> None:
        """Pass a report on to its users and its pod."""
        self.tell_users(self, report)
