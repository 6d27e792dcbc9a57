"""All of a gang are asked to give way when idle, if the place of any of them is needed.

Its turns end when all of it rest (turns/rest.py), so clients whose places are not needed are asked
as well. None of them moves memory by itself then: the gang may go on.
"""

from typing import TYPE_CHECKING

from nvshare.core.gangs.gang import Change, Gang, Member
from nvshare.core.host.admit import running_admits
from nvshare.core.turns.orders import keep, revoke_when_idle
from nvshare.core.turns.rest import rest_seconds

if TYPE_CHECKING:
    from nvshare.core.device.device import Device
    from nvshare.core.record.client import Client


def ask_together(gang: Gang, now: float) -> Change:
    """Ask all running clients of a gang to give way when idle, or take that back."""
    running = [] if gang.yielding else gang.running
    needed = [member for member in running if _head_behind(member.device)]
    return _ask(running, needed, now) if needed else _relax(running, now)


def _head_behind(device: "Device") -> "Client | None":
    """Return the head if it waits for running clients of a device."""
    roster, head = device.roster, device.head
    if head is None or roster.everything_fits:
        return None
    return None if running_admits(roster, *roster.party(head)) else head


def _ask(running: list[Member], needed: list[Member], now: float) -> Change:
    change = Change()
    rest = max(map(_rest_seconds, needed))
    for device, client in running:
        if client.turn.soft_revoked or client.drain.undrained:
            continue
        device.roster.ask(client, now)
        client.turn.expect_rest(rest)
        client.turn.note_slice(sliced=device.roster.regime.is_sliced)
        order = revoke_when_idle(client, rest)
        change.add(device, *([] if client.gang.rests else [order]))
    return change


def _rest_seconds(member: Member) -> float:
    device, client = member
    head = _head_behind(device)
    if head is None:
        return 0.0
    return rest_seconds(device.roster, client, head)


def _relax(running: list[Member], now: float) -> Change:
    change = Change()
    for device, client in running:
        if client.turn.soft_revoked:
            device.roster.keep(client, now)
            change.add(device, *([] if client.gang.rests else [keep(client)]))
    return change
