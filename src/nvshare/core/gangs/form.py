"""Which clients are in a gang: those of one group, if they are on more than one device.

The clients of one group on one device have to fit on it together: a gang runs as a whole. Where
they do not, the group is no gang, and each client is scheduled by itself. Where clients are
counted, a gang counts as one on each device, however many of its clients are there.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from nvshare.core.effects import Effect, Report, ReportKind
from nvshare.core.gangs.gang import Change, Gang, Member, by_device
from nvshare.core.memory import Load
from nvshare.core.record.client import Client, Told

if TYPE_CHECKING:
    from nvshare.core.device.device import Device


class Groups:
    """The clients that could be in a gang, by group."""

    def __init__(self, devices: Iterable["Device"]) -> None:
        self._members: dict[str, dict[int, Member]] = {}
        self._group_of: dict[int, str] = {}
        # The groups that are on several devices; and whether clients have joined or left since.
        self._spread: set[str] = set()
        self.have_changed = False
        for device in devices:
            for client in device.roster.clients.values():
                self.add(device, client)

    def add(self, device: "Device", client: Client) -> None:
        """Add a client that has joined."""
        if client.group and client.can_hold:
            self._members.setdefault(client.group, {})[client.id] = Member(device, client)
            self._group_of[client.id] = client.group
            self._note(client.group)

    def remove(self, client: int) -> None:
        """Forget a client that has left."""
        group = self._group_of.pop(client, None)
        if group is not None:
            del self._members[group][client]
            self._note(group)
            if not self._members[group]:
                del self._members[group]

    def _note(self, group: str) -> None:
        was_spread = group in self._spread
        self._spread.discard(group)
        if len({member.device.state.id for member in self._members[group].values()}) > 1:
            self._spread.add(group)
        self.have_changed |= was_spread or group in self._spread

    @property
    def are_spread(self) -> bool:
        """Whether some group is on several devices."""
        return bool(self._spread)

    def companions(self) -> Iterator[int]:
        """Return the clients that are not alone in their group, in a gang at present or not."""
        for members in self._members.values():
            if len(members) > 1:
                yield from members

    def gangs(self) -> Iterator[Gang]:
        """Return all gangs, in the order of their numbers."""
        found = [_gang(group) for group in self._groups() if len(group) > 1]
        return iter(sorted((one for one in found if one), key=lambda gang: gang.number))

    def _groups(self) -> Iterator[list[Member]]:
        """Return all groups in an order that a snapshot keeps, so that a replay gives the same."""
        for _, members in sorted(self._members.items()):
            yield [member for _, member in sorted(members.items())]

    def form(self) -> Change:
        """Update which clients are in a gang."""
        change, self.have_changed = Change(), False
        for group in self._groups():
            _form(group, change)
        return change

    def leftovers(self) -> Iterator[Member]:
        """Return clients that have left their gang but are still in a state of a gang's client."""
        for group in self._groups():
            for member in group:
                client = member.client
                is_left = not client.in_gang and (client.gang.rests or client.gang.stalled)
                is_alone = not client.in_gang or client.turn.overdue
                if is_left or (is_alone and client.hold.stage is not None):
                    yield member


def _gang(group: list[Member]) -> Gang | None:
    there = [member for member in group if member.client.in_gang]
    number = there[0].client.gang.number if there else None
    # An overdue client is told nothing, and is not waited for.
    there = [member for member in there if not member.client.turn.overdue]
    return Gang(number, tuple(there)) if number is not None and there else None


def _form(group: list[Member], change: Change) -> None:
    members = [member for member in group if member.device.state.settings.gangs]
    shares = by_device(members)
    apart = [share for share in shares if not _fit(*share)] if len(shares) > 1 else []
    for device, clients in apart:
        change.effects += _report(device, clients)
    is_gang = len(shares) > 1 and not apart
    number = _number(members) if is_gang else None
    first_ones = {clients[0].id for _, clients in shares}
    for device, client in group:
        in_gang = is_gang and device.state.settings.gangs
        rides = in_gang and client.id not in first_ones
        wanted = number if in_gang else None
        if (client.gang.number, client.gang.rides) != (wanted, rides):
            device.roster.set_gang(client, wanted, rides=rides)
            change.add(device)


def _number(members: list[Member]) -> int:
    """Return the number of a gang. It stays the same when clients leave."""
    numbers = (member.client.gang.number for member in members)
    known = (number for number in numbers if number is not None)
    return min(known, default=members[0].client.id)


def _fit(device: "Device", clients: list[Client]) -> bool:
    load = Load()
    for client in clients:
        load.add(client.memory.swappable)
    return load.fits(device.roster.room)


def _report(device: "Device", clients: list[Client]) -> list[Effect]:
    is_new = {client.tell(Told.APART) for client in clients}
    text = (
        f"{len(clients)} processes of its group do not fit on the GPU together, so the group "
        "cannot have its turns on all its GPUs at the same time; each process is scheduled by "
        "itself"
    )
    return (
        [] if False in is_new else [Report(ReportKind.APART, device.state.id, clients[0].id, text)]
    )
