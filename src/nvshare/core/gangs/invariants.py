"""What must hold of gangs after every event. For tests and debugging, as core/invariants.py."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from nvshare.core.gangs.form import Groups
from nvshare.core.gangs.gang import Gang
from nvshare.core.lease import State

if TYPE_CHECKING:
    from nvshare.core.device.device import Device


def gang_problems(devices: Iterable["Device"]) -> Iterator[str]:
    """Yield what is wrong with the gangs of a node."""
    devices = list(devices)
    for device in devices:
        yield from _alone(device)
    if not all(device.state.is_open for device in devices):
        return
    for gang in Groups(devices).gangs():
        yield from (f"gang {gang.number}: {problem}" for problem in _problems(gang))


def _alone(device: "Device") -> Iterator[str]:
    for client in device.roster.clients.values():
        if client.gang.rests and not client.has_turn:
            yield f"client {client.id} rests, and has no place"
        if client.hold.stage is not None and client.state is not State.YIELDING:
            yield f"client {client.id} holds, and was not told to"
        if not client.in_gang and (
            client.gang.rests or client.gang.rides or client.gang.stalled or client.hold.stage
        ):
            yield f"client {client.id} is in no gang, and counts as if it were"


def _problems(gang: Gang) -> Iterator[str]:
    if gang.holding and any(not member.client.drain.undrained for member in gang.running):
        yield "some hold, and others run"
    if (
        gang.running
        and all(member.client.gang.rests for member in gang.running)
        and not gang.yielding
    ):
        yield "all rest, and keep their places"
    if any(member.client.gang.rests and member.client.turn.wants for member in gang.running):
        yield "a client rests that wants to go on"
    free = [member for member in gang.running if not member.client.drain.undrained]
    if free and gang.waiting and not gang.yielding:
        yield "some run, and others wait"
    if gang.is_off and gang.waiting:
        yield from _waiting(gang)
    if not gang.yielding and len({member.client.turn.soft_revoked for member in free}) > 1:
        yield "some were asked to give way, and others were not"


def _waiting(gang: Gang) -> Iterator[str]:
    """All of a gang wait, at the same place."""
    if gang.idle:
        yield "some wait, and others do not"
    if len({member.client.place[:3] for member in gang.waiting}) > 1:
        yield "the waiting clients have different places"
