"""The messages between a process and the daemon, and the numbers and names in them.

Besides the core's orders and events there are three more frames here, and the end of a connection.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeAlias, TypeVar

from nvshare.core.effects import (
    CancelHandover,
    Effect,
    Grant,
    Hold,
    Keep,
    Revoke,
    Room,
    StepOnce,
    Urgency,
)
from nvshare.core.events import ClientEvent, ClientJoined, Held, Moved, Released, Wanted
from tests.property.program import HandoverOrder, Standby


@dataclass(frozen=True)
class Welcome(Effect):
    """The daemon has registered the process."""


@dataclass(frozen=True)
class Closed(Effect):
    """The other end of the connection is closed: nothing comes after this."""


Message: TypeAlias = Effect | ClientEvent
AnyMessage = TypeVar("AnyMessage", bound=Message)
# The owner of a turn, and its number. Owner 0 is the sender or receiver of the message. Numbers of
# different clients are never compared, so each client's are counted separately.
Turns: TypeAlias = tuple[tuple[int, int], ...]
Renumber: TypeAlias = Callable[[int, int], int]


@cache
def turns_in(message: Message) -> Turns:
    """Return the turns that a message names, each with its owner."""
    match message:
        case HandoverOrder():
            return (0, message.turn), (message.next_client, message.next_turn)
        case CancelHandover():
            return ((0, message.from_turn),)
        case Released():
            return (0, message.turn), (message.handed_to or 0, message.handed_turn)
        case Grant() | Room() | Revoke() | Keep() | Standby() | Hold() | StepOnce():
            return ((0, message.turn),)
        case Wanted() | Moved() | Held() | ClientJoined():
            return ((0, message.turn),)
    return ()


def ends_holding(order: Message) -> bool:
    """Whether answers to earlier orders to hold or to step are void after this order."""
    is_now = isinstance(order, Revoke) and order.urgency is Urgency.NOW
    return is_now or isinstance(order, Hold | StepOnce | Keep)


@cache
def client_in(message: Message) -> int:
    """Return the other client that a message names, or 0."""
    match message:
        case HandoverOrder():
            return message.next_client
        case Released():
            return message.handed_to or 0
    return 0


@cache
def anonymous(message: Message) -> Message:
    """Return the message without names, for comparing."""
    changes: dict[str, Any] = {}
    match message:
        case HandoverOrder():
            changes = {"next_client": 0}
        case Released():
            changes = {"handed_to": 0 if message.handed_to else None}
        case CancelHandover():
            changes = {"from_client": 0}
    if hasattr(message, "client"):
        changes["client"] = 0
    if isinstance(message, Revoke):
        # The search decides when a process rests, however long the rest is to be.
        changes["idle_seconds"] = 0.0
    return replace(message, **changes) if changes else message


def renumbered(
    message: AnyMessage, own: int, turn: Renumber, descriptor: Callable[[int], int]
) -> AnyMessage:
    """Return the message with other numbers of turns and descriptors."""
    match message:
        case HandoverOrder():
            return replace(
                message,
                turn=turn(own, message.turn),
                next_turn=turn(message.next_client, message.next_turn),
                descriptor=descriptor(message.descriptor),
            )
        case Standby():
            number = descriptor(message.descriptor)
            return replace(message, turn=turn(own, message.turn), descriptor=number)
        case CancelHandover():
            return replace(message, from_turn=turn(own, message.from_turn))
        case Released():
            handed = turn(message.handed_to or own, message.handed_turn)
            return replace(message, turn=turn(own, message.turn), handed_turn=handed)
        case Grant() | Room() | Revoke() | Keep() | Hold() | StepOnce():
            return replace(message, turn=turn(own, message.turn))
        case Wanted() | Moved() | Held() | ClientJoined():
            return replace(message, turn=turn(own, message.turn))
    return message
