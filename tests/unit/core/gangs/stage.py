"""A core with two or more devices of 16 bytes, and short words for the events of gangs.

Client 10 is the member of gang "a" on device 0, 11 the one on device 1, 20 and 21 are those of "b".
Time stands still unless a test moves it. Every event is followed by a check of the invariants.
"""

from typing import Any

from nvshare.core.core import Core
from nvshare.core.effects import Effect, Hold, Keep, StepOnce
from nvshare.core.events import (
    CannotDrain,
    ClientJoined,
    ClientLeft,
    DeviceAdded,
    Held,
    MemoryChanged,
    ParkChanged,
    Reason,
    Released,
    SettingsChanged,
    Timer,
    TimerFired,
    TimerKind,
    Used,
    Wanted,
)
from nvshare.core.lease import State
from nvshare.core.memory import Memory
from nvshare.core.record.client import Client
from nvshare.core.settings import Settings

USABLE = 16
TURN = 30.0


class Stage:
    """The stage for tests of gangs."""

    def __init__(self, devices: int = 2, usable: int = USABLE, **settings: Any) -> None:
        self.now = 1000.0
        self.core = Core(check=True)
        self.settings = Settings(**{"turn_seconds": TURN, **settings})
        for number in range(devices):
            self.core.handle(
                DeviceAdded(
                    now=self.now,
                    device=f"gpu{number}",
                    usable_bytes=usable,
                    settings=self.settings,
                )
            )

    def client(self, client: int) -> Client:
        return self.core._find(client)[1]

    def states(self, *clients: int) -> list[str]:
        return [self.client(one).state.value for one in clients]

    def join(
        self, client: int, size: int = 0, group: str = "", *, is_new: bool = False, **more: Any
    ) -> list[Effect]:
        """Join on the device of the last digit, with memory that was never touched.

        A new client may interrupt others; most tests are not about that.
        """
        event = ClientJoined(
            now=self.now,
            client=client,
            device=f"gpu{client % 10}",
            memory=Memory(size, 0, size),
            **{"group": group, "can_hold": True, **more},
        )
        effects = self.core.handle(event)
        self.client(client).precedence.is_new = is_new
        return effects

    def gang(self, *clients: int, size: int = 12, **more: Any) -> None:
        """Join with clients of one group, and let the first of them want a turn."""
        for client in clients:
            self.join(client, size, f"gang {clients[0]}", **more)
        self.want(clients[0])

    def want(self, client: int, turn: int = 0) -> list[Effect]:
        return self.core.handle(Wanted(now=self.now, client=client, turn=turn))

    def come_back(self, client: int) -> list[Effect]:
        """Want to go on, having given up a turn."""
        return self.want(client, self.client(client).turn.number)

    def held(self, client: int, *, waits: bool = False) -> list[Effect]:
        turn = self.client(client).turn.number
        return self.core.handle(Held(now=self.now, client=client, turn=turn, waits=waits))

    def cannot_drain(self, client: int) -> list[Effect]:
        turn = self.client(client).turn.number
        return self.core.handle(CannotDrain(now=self.now, client=client, turn=turn))

    def release(self, client: int, *, wants: bool = False, **more: Any) -> list[Effect]:
        who = self.client(client)
        reason = Reason.TOLD if who.state is State.YIELDING else Reason.IDLE
        facts: dict[str, Any] = {"turn": who.turn.number, "memory": who.memory, "reason": reason}
        facts |= more
        return self.core.handle(Released(now=self.now, client=client, wants=wants, **facts))

    def memory(self, client: int, allocated: int) -> list[Effect]:
        memory = Memory(allocated)
        return self.core.handle(MemoryChanged(now=self.now, client=client, memory=memory))

    def used(self, client: int, seconds: float) -> list[Effect]:
        return self.core.handle(Used(now=self.now, client=client, busy_seconds=seconds))

    def park(self, client: int, parked: bool = True) -> list[Effect]:
        return self.core.handle(ParkChanged(now=self.now, client=client, parked=parked))

    def leave(self, client: int) -> list[Effect]:
        return self.core.handle(ClientLeft(now=self.now, client=client))

    def change(self, device: int, **settings: Any) -> list[Effect]:
        changed = Settings(**{"turn_seconds": TURN, **settings})
        return self.core.handle(
            SettingsChanged(now=self.now, device=f"gpu{device}", settings=changed)
        )

    def alarm(self, device: int, kind: TimerKind) -> float | None:
        return self.core._devices[f"gpu{device}"].state.alarms.get(kind)

    def fire(self, device: int, kind: TimerKind) -> list[Effect]:
        """Let a timer fire when it is due."""
        at = self.alarm(device, kind)
        assert at is not None, "there is no such timer"
        self.now = max(self.now, at)
        return self.core.handle(TimerFired(now=self.now, timer=Timer(f"gpu{device}", kind)))

    def end_turns(self) -> list[Effect]:
        """Let time pass until the timers of all turns have fired."""
        effects: list[Effect] = []
        for device in range(len(self.core._devices)):
            if self.alarm(device, TimerKind.TURN) is not None:
                effects += self.fire(device, TimerKind.TURN)
        return effects

    def hand_over(self, *going: int, wants: bool = True) -> list[Effect]:
        """Let the clients that were told to hold do so, and then give up their turns."""
        effects: list[Effect] = []
        for client in going:
            effects += self.held(client, waits=wants)
        for client in going:
            effects += self.release(client, wants=wants)
        return effects


def holds(effects: list[Effect]) -> list[int]:
    return [effect.client for effect in effects if isinstance(effect, Hold)]


def steps(effects: list[Effect]) -> list[int]:
    return [effect.client for effect in effects if isinstance(effect, StepOnce)]


def keeps(effects: list[Effect]) -> list[int]:
    return [effect.client for effect in effects if isinstance(effect, Keep)]
