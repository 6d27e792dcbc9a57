"""A device of 16 bytes on which the way in of 12 bytes takes a second."""

from typing import Any

from nvshare.core.events import TimerKind
from nvshare.core.memory import Memory
from nvshare.core.precedence.charge import use_of
from nvshare.core.record.client import Client
from nvshare.core.record.use import Use

from ..stage import Stage, granted

BANDWIDTH = 12.0
# The way in of 12 bytes.
SECOND = 1.0


class Scene(Stage):
    """The stage for tests of who goes first."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"initial_bandwidth": BANDWIDTH, **settings})

    def client(self, client: int) -> Client:
        return self.device.roster.clients[client]

    def rests(self, client: int, size: int = 12, **more: Any) -> None:
        """Join with memory that is on the host, and nothing to do."""
        self.join(client, size, swapped=size, turn=1, **more)

    def waits(self, client: int, size: int = 12, **more: Any) -> None:
        """Have a client wait that has not rested: it computes all the time."""
        self.rests(client, size, **more)
        self.want(client)

    def gives_way(self, client: int, *, wants: bool = True) -> list[int]:
        """Give up a turn, with all memory moved out; return who comes."""
        size = self.client(client).memory.allocated
        return granted(self.release(client, wants=wants, memory=Memory(size, 0, size)))

    def uses(self, **uses: float) -> None:
        """Set what clients have used by now: c1=3.0 for client 1."""
        clock = self.device.state.use_clock
        assert clock.at == self.now
        for name, seconds in uses.items():
            client = self.client(int(name[1:]))
            client.precedence.use = Use(
                seconds, clock.at, clock.reading if client.has_turn else None
            )

    def use(self, client: int) -> float:
        """Return what a client has used, as of the last event."""
        return use_of(self.device.roster, self.client(client))

    def tick(self) -> None:
        """Have an event about nothing, so that the clock is read."""
        self.change()

    @property
    def alarm(self) -> float:
        """When the turn ends, or is interrupted, if nothing happens."""
        return self.device.state.alarms[TimerKind.TURN]
