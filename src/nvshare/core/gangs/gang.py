"""A gang at one moment: its members, and how far they are. Decides nothing, keeps nothing."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from nvshare.core.effects import Effect
from nvshare.core.lease import State
from nvshare.core.record.client import Client

if TYPE_CHECKING:
    from nvshare.core.device.device import Device


class Member(NamedTuple):
    """A client, and the device that it is on."""

    device: "Device"
    client: Client


@dataclass(frozen=True, slots=True)
class Gang:
    """Clients that have their turns together, without overdue ones."""

    number: int
    members: tuple[Member, ...]

    @property
    def running(self) -> list[Member]:
        """Return the members whose gates are open, or that rest."""
        return self._of(State.RUNNING)

    @property
    def waiting(self) -> list[Member]:
        """Return the members that wait for a turn."""
        return self._of(State.WAITING)

    @property
    def idle(self) -> list[Member]:
        """Return the members that have no turn and nothing to run."""
        return self._of(State.IDLE)

    @property
    def yielding(self) -> list[Member]:
        """Return the members that were told to hold, or to give way."""
        return self._of(State.YIELDING)

    @property
    def holding(self) -> list[Member]:
        """Return the members that were told to hold, and not to give way yet."""
        return [member for member in self.yielding if member.client.hold.stage is not None]

    @property
    def devices(self) -> list["Device"]:
        """Return the members' devices, each once."""
        return list({member.device.state.id: member.device for member in self.members}.values())

    @property
    def is_off(self) -> bool:
        """Whether no member holds a turn."""
        return not any(member.client.has_turn for member in self.members)

    def _of(self, state: State) -> list[Member]:
        return [member for member in self.members if member.client.state is state]


@dataclass(slots=True)
class Change:
    """Effects to be ordered, and the devices where something has changed."""

    effects: list[Effect] = field(default_factory=list)
    devices: set[str] = field(default_factory=set)

    def add(self, device: "Device", *effects: Effect) -> None:
        """Note that something has changed on a device."""
        self.devices.add(device.state.id)
        self.effects += effects

    def take(self, other: "Change") -> None:
        """Add another change."""
        self.devices |= other.devices
        self.effects += other.effects


def by_device(members: list[Member]) -> list[tuple["Device", list[Client]]]:
    """Return clients by device."""
    found: dict[str, tuple[Device, list[Client]]] = {}
    for device, client in members:
        found.setdefault(device.state.id, (device, []))[1].append(client)
    return list(found.values())
