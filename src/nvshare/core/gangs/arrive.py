"""When a waiting gang is granted its turns: in one step, when it has room on all its devices.

A device never ends a turn for a gang by itself. This file does it for all devices in one step, when
the gang is the head wherever not everything fits, and the turns on all of them are over.
"""

from typing import TYPE_CHECKING, NamedTuple

from nvshare.core.gangs.gang import Change, Gang, Member, by_device
from nvshare.core.gangs.give_way import hold
from nvshare.core.host.admit import admits, running_admits
from nvshare.core.record.client import Client
from nvshare.core.turns.admit import grant, has_room_beside
from nvshare.core.turns.admit import let_guests_in as let_guests_in_here
from nvshare.core.turns.end import fill_seconds, keep_turn
from nvshare.core.turns.switch import end_turn, may_end_turn

if TYPE_CHECKING:
    from nvshare.core.device.device import Device


class Prospect(NamedTuple):
    """What a gang can expect of one device."""

    # It could be let in at this moment.
    is_ready: bool
    # Its room is kept for it, or it needs none, or others can be told to give way for it now.
    may_come: bool


NOTHING = Prospect(False, False)


def arrive(gang: Gang, now: float, coming: set[int]) -> Change:
    """Let a gang in, or have others make way for it, if that can be done on all its devices.

    ``coming`` are the gangs that others make way for. This one is added if others make way for it.
    """
    if gang.yielding:
        # It has to give its turns up before it can come back.
        return Change()
    waiting = gang.waiting
    if not waiting:
        return _open(gang, now)
    parts = [(*part, look(*part, now, coming)) for part in by_device(waiting)]
    if all(prospect.is_ready for *_, prospect in parts):
        return _grant(gang, waiting, now)
    if any(not member.client.drain.undrained for member in gang.running):
        # A new client of a running gang has no room. So the whole gang waits together.
        return hold(gang, now)
    if not all(prospect.may_come for *_, prospect in parts):
        return Change()
    coming.add(gang.number)
    change = Change()
    for device, clients, prospect in parts:
        head = device.head
        if head and not prospect.is_ready and not running_admits(device.roster, *clients):
            change.add(device, *end_turn(device.roster, head, now))
    return change


def look(device: "Device", clients: list[Client], now: float, coming: set[int]) -> Prospect:
    """Return what the waiting clients of a gang can expect of a device."""
    state, roster = device.state, device.roster
    if not state.is_open or any(client.is_barred for client in clients):
        return NOTHING
    if roster.everything_fits:
        return Prospect(True, True)
    head = device.head
    if head is not None and head in clients:
        is_ready = admits(roster, *clients)
        comes = is_ready or running_admits(roster, *clients)
        return Prospect(is_ready, comes or may_end_turn(device.roster, head, now))
    is_ready = _may_join(device, clients, head, coming)
    # Who weighs nothing never becomes the head, and need not.
    return Prospect(is_ready, is_ready and not any(client.weight for client in clients))


def _may_join(
    device: "Device", clients: list[Client], head: Client | None, coming: set[int]
) -> bool:
    """Whether these may be let in now, although others go before them."""
    roster = device.roster
    if head is None:
        # No client could run. One with all its memory on the device may: it pushes nothing out.
        whole = all(not client.memory.swapped and not client.growth.grown for client in clients)
        return whole and not roster.running and not roster.yielding
    if head.in_gang and head.gang.number not in coming:
        return admits(roster, *clients)
    return has_room_beside(device.roster, clients, head)


def _open(gang: Gang, now: float) -> Change:
    """Let idle clients in where everything fits: on all devices, or beside others of the gang.

    Clients outside gangs are let in in the same way.
    """
    idle = [member for member in gang.idle if member.client.park is None]
    open_to_all = [member for member in idle if _is_open(member.device)]
    if gang.is_off and len(open_to_all) < len(gang.members):
        return Change()
    return _grant(gang, open_to_all, now)


def _is_open(device: "Device") -> bool:
    return device.state.is_open and device.roster.everything_fits


def _grant(gang: Gang, members: list[Member], now: float) -> Change:
    change = Change()
    for device, client in members:
        change.add(device, grant(device.roster, client, now, is_guest=_is_guest(device, gang)))
    _keep_turns(gang, members, now)
    return change


def _keep_turns(gang: Gang, members: list[Member], now: float) -> None:
    """Have turns last until all of a gang have had their memory: they wait for the last one."""
    longest = max((fill_seconds(device.state, client) for device, client in members), default=0.0)
    for device in gang.devices:
        keep_turn(device.state, now, longest)


def _is_guest(device: "Device", gang: Gang) -> bool:
    head = device.head
    return head is not None and head.gang.number not in (None, gang.number)


def let_guests_in(device: "Device", now: float, coming: set[int]) -> Change:
    """Let others use a gang's room on a device while it waits for another device."""
    change = Change()
    head = device.head
    waits_elsewhere = head and head.in_gang and head.gang.number not in coming
    if head and waits_elsewhere and device.state.is_open:
        guests = let_guests_in_here(device.roster, head, now)
        if guests:
            change.add(device, *guests)
    return change
