"""Brings the files of this folder together: what all devices with gangs have to do after an event.

By then each device has restored its own invariants (device/rules.py), and left gangs alone.
After each change made here, the changed devices restore theirs again, until nothing changes any
more.
"""

from collections.abc import Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING

from nvshare.core.device.rules import set_alarms
from nvshare.core.effects import Effect
from nvshare.core.events import ClientJoined, ClientLeft, Event
from nvshare.core.gangs.arrive import arrive, let_guests_in
from nvshare.core.gangs.form import Groups
from nvshare.core.gangs.gang import Change, Gang, by_device
from nvshare.core.gangs.give_way import give_up_alone, give_way
from nvshare.core.gangs.queue import note_stalled, queue_up
from nvshare.core.gangs.rest import attend_rests
from nvshare.core.gangs.soft_revoke import ask_together
from nvshare.core.host.admit import admits

if TYPE_CHECKING:
    from nvshare.core.device.device import Device
    from nvshare.core.record.client import Client

# Each round lets a client in, or has one give way. There are never more than a few for each gang.
_ROUNDS = 64


class Gangs:
    """All gangs of a node."""

    def __init__(self, devices: Mapping[str, "Device"]) -> None:
        self._devices = devices
        self._groups = Groups(devices.values())
        # Changes since the last round.
        self._news = Change()
        # Whether the last arrange() left nothing to do.
        self.is_arranged = True

    def heed(self, event: Event) -> None:
        """Note clients that have joined or left."""
        if isinstance(event, ClientJoined):
            device = self._devices[event.device]
            self._groups.add(device, device.roster.clients[event.client])
        elif isinstance(event, ClientLeft):
            self._groups.remove(event.client)
        if self._groups.have_changed:
            self._news.take(self._groups.form())

    def arrange(self, now: float) -> list[Effect]:
        """Order what concerns several devices at once."""
        effects: list[Effect] = []
        if not self._groups.are_spread and not self._news.devices:
            return effects
        change = Change()
        for _ in range(_ROUNDS):
            change = self._round(now)
            effects += change.effects
            if not change.devices:
                break
            for name, device in self._devices.items():
                if name in change.devices:
                    effects += device.restore(now)
        self.is_arranged = not change.devices
        for device in self._devices.values():
            if device.head is not None and device.head.in_gang:
                # Looking whether a gang can come has updated the end of this turn.
                effects += set_alarms(device.roster, now)
        return effects

    def companions(self) -> Iterator[int]:
        """Return the clients whose state may change because of others in their group."""
        return self._groups.companions()

    def waits_for(self, client: int) -> tuple[str, ...]:
        """Return the devices on which a client's gang has no room, if it waits."""
        if not self._groups.are_spread:
            # This is asked for every client, and the search over all groups is mostly useless.
            return ()
        for gang in self._groups.gangs():
            if any(member.client.id == client for member in gang.waiting):
                parts = by_device(gang.waiting)
                return tuple(one.state.id for one, clients in parts if not _has_room(one, clients))
        return ()

    def _round(self, now: float) -> Change:
        change, self._news = self._news, Change()
        change.take(self._groups.form())
        for member in list(self._groups.leftovers()):
            change.take(give_up_alone(member, now))
        gangs = sorted(self._groups.gangs(), key=_place)
        for gang in gangs:
            for attend in (queue_up, give_way, attend_rests, ask_together):
                change.take(attend(gang, now))
            change.take(note_stalled(gang))
        return change if change.devices else self._let_in(gangs, now)

    def _let_in(self, gangs: list[Gang], now: float) -> Change:
        coming: set[int] = set()
        for gang in gangs:
            change = arrive(gang, now, coming)
            if change.devices:
                return change
        for device in self._devices.values():
            change = let_guests_in(device, now, coming)
            if change.devices:
                return change
        return Change()


def _has_room(device: "Device", clients: "list[Client]") -> bool:
    return device.roster.everything_fits or admits(device.roster, *clients)


def _place(gang: Gang) -> tuple[float, ...]:
    """Return a sort key: waiting gangs come first, in the order of the queue."""
    return min((member.client.place[:3] for member in gang.waiting), default=(inf, gang.number))
