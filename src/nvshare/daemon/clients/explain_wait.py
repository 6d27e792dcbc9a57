"""Explains a long wait in one sentence: which program has the GPU, and why both do not fit.

The users of a program that has waited for long are told once. Decides nothing.
"""

import asyncio
import pwd
from collections.abc import Callable
from typing import TYPE_CHECKING

from nvshare.core.lease import State
from nvshare.core.view import ClientView, DeviceView
from nvshare.settings import DeviceSettings

if TYPE_CHECKING:
    from nvshare.daemon.clients.session import Session
    from nvshare.daemon.node import Member, Node
    from nvshare.daemon.tenants.identity import Identity

_GIB = 1 << 30
_HOLDING = (State.RUNNING, State.YIELDING)
# More names than these do not help.
_MOST_NAMES = 3


class WaitNotice:
    """A timer beside a program's wait, which speaks once if the wait takes too long."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._is_said = False
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, seconds: float, speak: Callable[[float], bool]) -> None:
        """Start the timer. 0 seconds: the wait is never too long.

        ``speak`` gets the time waited, and returns whether it has said something.
        """
        self.end()
        if seconds and not self._is_said:
            self._timer = self._loop.call_later(seconds, self._fire, seconds, speak)

    def end(self) -> None:
        """Stop the timer: the program has its turn, or is gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fire(self, seconds: float, speak: Callable[[float], bool]) -> None:
        self._timer = None
        self._is_said = speak(seconds)


def why_it_waits(node: "Node", session: "Session", member: "Member", seconds: float) -> str | None:
    """Return what a client waits for; None: it does not wait, or has been told in another way."""
    own = node.core.client_view(member.id)
    # Its request may have crossed with the grant of the turn.
    if own.state is not State.WAITING or node.core.outlook(member.id).is_held_up:
        return None
    waited = f"has waited {seconds:.0f} s for its turn"
    if member.group.parked:
        return f"{waited}: it is parked by hand; `nvshare unpark {member.id}` lets it go on"
    device = node.core.view(member.gpu.uuid)
    others = _others(node, member)
    holders = [one for one in others if one[1].state in _HOLDING]
    if not holders:
        return f"{waited}: memory of other programs is on its way out of the GPU"
    views = [view for _, view in holders]
    stays = sum(view.memory.pinned for _, view in others if view.state not in _HOLDING)
    reason = _reason(node.settings[member.gpu.uuid], device, own, views, stays)
    return f"{waited}: {_who(session.identity, holders)} {_how_long(node, device, views)}; {reason}"


def _others(node: "Node", member: "Member") -> "list[tuple[Session, ClientView]]":
    """Return the other clients on the GPU, the largest first."""
    found = [
        (session, node.core.client_view(session.member.id))
        for session in node.sessions_of(member.gpu)
        if session.member is not None and session.member.id != member.id
    ]
    return sorted(found, key=lambda one: -one[1].memory.own)


def _who(own: "Identity", holders: "list[tuple[Session, ClientView]]") -> str:
    names = [_name(own, session, view.id) for session, view in holders[:_MOST_NAMES]]
    names += [f"{len(holders) - _MOST_NAMES} more"] if len(holders) > _MOST_NAMES else []
    return " and ".join(names) + (" has" if len(holders) == 1 else " have")


def _name(own: "Identity", other: "Session", client: int) -> str:
    """Name a holder. A client in a container is not told what runs in other containers."""
    who = other.identity
    if who.container and who.container != own.container:
        return f"a program in another container (id {client})"
    user = "" if who.uid == own.uid else f"{_user(who.uid)}/"
    return f"{user}{who.program} (id {client}, pid {who.pid})"


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def _how_long(node: "Node", device: DeviceView, holders: list[ClientView]) -> str:
    now = node.now()
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
