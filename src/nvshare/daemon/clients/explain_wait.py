"""Explains a long wait in one sentence: which program has the GPU, and why both do not fit.

notices.py tells it to the users of a program that has waited for long. Decides nothing.
"""

import pwd

from nvshare.core.lease import State
from nvshare.core.view import ClientView, DeviceView
from nvshare.daemon.clients.client import Client
from nvshare.daemon.clients.clients import Clients
from nvshare.daemon.executor import Executor
from nvshare.daemon.tenants.identity import Identity
from nvshare.settings import DeviceSettings

_GIB = 1 << 30
_HOLDING = (State.RUNNING, State.YIELDING)
# More names than these do not help.
_MOST_NAMES = 3


def why_it_waits(
    executor: Executor, settings: DeviceSettings, clients: Clients, client: Client, seconds: float
) -> str | None:
    """Return what a client waits for; None: it does not wait, or has been told in another way."""
    core = executor.core
    own = core.client_view(client.id)
    # Its request may have crossed with the grant of the turn.
    if own.state is not State.WAITING or core.outlook(client.id).is_held_up:
        return None
    waited = f"has waited {seconds:.0f} s for its turn"
    if client.group.parked:
        return f"{waited}: it is parked by hand; `nvshare unpark {client.id}` lets it go on"
    device = core.view(client.gpu.uuid)
    # The largest first.
    others = [
        (one, core.client_view(one.id)) for one in clients.of(client.gpu) if one is not client
    ]
    others.sort(key=lambda one: -one[1].memory.own)
    holders = [one for one in others if one[1].state in _HOLDING]
    if not holders:
        return f"{waited}: memory of other programs is on its way out of the GPU"
    views = [view for _, view in holders]
    stays = sum(view.memory.pinned for _, view in others if view.state not in _HOLDING)
    reason = _reason(settings, device, own, views, stays)
    how_long = _how_long(executor.now(), device, views)
    return f"{waited}: {_who(client.identity, [one for one, _ in holders])} {how_long}; {reason}"


def _who(own: Identity, holders: list[Client]) -> str:
    names = [_name(own, client) for client in holders[:_MOST_NAMES]]
    names += [f"{len(holders) - _MOST_NAMES} more"] if len(holders) > _MOST_NAMES else []
    return " and ".join(names) + (" has" if len(holders) == 1 else " have")


def _name(own: Identity, other: Client) -> str:
    """Name a holder. A client in a container is not told what runs in other containers."""
    who = other.identity
    if who.container and who.container != own.container:
        return f"a program in another container (id {other.id})"
    user = "" if who.uid == own.uid else f"{_user(who.uid)}/"
    return f"{user}{who.program} (id {other.id}, pid {who.pid})"


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def _how_long(now: float, device: DeviceView, holders: list[ClientView]) -> str:
    text = f"had the GPU for {now - min(view.since for view in holders):.0f} s"
    if device.turn_ends is not None and device.turn_ends > now:
        text += f", and for {device.turn_ends - now:.0f} s more at most"
    return text


def _reason(
    settings: DeviceSettings,
    device: DeviceView,
    own: ClientView,
    holders: list[ClientView],
    stays: int,
) -> str:
    mine, theirs = own.memory.allocated, sum(view.memory.allocated for view in holders)
    if any(view.is_overdue or view.cannot_drain for view in holders):
        return "it was told to give way, and has not done so yet"
    if settings.mode == "serial":
        return "mode=serial: one program at a time"
    if mine + theirs + stays > device.usable:
        beside = f", beside {_gib(stays)} that cannot leave the GPU" if stays else ""
        return (
            f"the {_gib(mine)} of this program and {_gib(theirs)} do not fit in the "
            f"{_gib(device.usable)} of the GPU together{beside}"
        )
    return "they take turns"


def _gib(size: int) -> str:
    return f"{size / _GIB:.1f} GiB"
