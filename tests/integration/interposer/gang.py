"""A daemon for programs that wait for each other: all hold, those behind step, all go on."""

import time
from dataclasses import dataclass, field

from nvshare.wire.frames import (
    Grant,
    Held,
    Hold,
    Host,
    Keep,
    Memory,
    Moved,
    Released,
    Revoke,
    RevokeFlags,
    Step,
    Urgency,
    Want,
)

from .scripted import Link

# For this long no client steps: most work ends by itself.
PATIENCE = 0.003
SECONDS = 20.0


@dataclass
class Member:
    """One client: its frames since the order to hold."""

    link: Link
    turn: int = 1
    number: int = 0
    held: bool = False
    waits: bool = False
    steps: int = 0

    def hear(self) -> None:
        """Read the frames that it has sent meanwhile."""
        while not self.link.silent(0):
            frame = self.link.next(Held | Memory | Moved | Host | Want | Released)
            if isinstance(frame, Held) and frame.number == self.number:
                assert frame.turn == self.turn
                self.held, self.waits = True, bool(frame.waits)

    def step(self) -> None:
        """Let one call pass."""
        self.held = self.waits = False
        self.steps += 1
        self.number += 1
        self.link.send(Step(self.turn, self.number))

    def hold(self) -> None:
        """Order it to hold."""
        self.held = self.waits = False
        self.steps = 0
        self.number += 1
        self.link.send(Hold(self.turn, self.number))

    def give_way(self) -> None:
        """Have it release its turn. A report of a waiting call may have crossed with that."""
        while not isinstance(self.link.next(Held | Memory | Moved | Host | Released), Released):
            continue
        self.turn += 1


@dataclass
class Gang:
    """Clients that get and give turns together."""

    members: list[Member]
    steps: int = field(default=0)

    def grant(self) -> None:
        """Let all run."""
        for member in self.members:
            member.link.send(Grant(member.turn, 0))

    def hold(self) -> None:
        """Have all hold, and let those behind catch up, until nothing is in flight."""
        for member in self.members:
            member.hold()
        deadline = time.monotonic() + SECONDS
        patience = time.monotonic() + PATIENCE
        while not all(member.held for member in self.members):
            assert time.monotonic() < deadline, self.members
            time.sleep(0.0002)
            for member in self.members:
                member.hear()
            if time.monotonic() > patience and not all(member.held for member in self.members):
                for member in self.members:
                    if member.held and member.waits:
                        member.step()
        self.steps += sum(member.steps for member in self.members)

    def keep(self) -> None:
        """Let all go on."""
        for member in self.members:
            member.link.send(Keep(member.turn))

    def switch(self, evict_bytes: int) -> None:
        """Revoke the turns of all, with so much of their memory; and give them the next ones."""
        for member in self.members:
            revoke = Revoke(member.turn, Urgency.NOW, 0, evict_bytes, RevokeFlags(0))
            member.link.send(revoke)
        for member in self.members:
            member.give_way()
        self.grant()
