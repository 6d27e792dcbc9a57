"""What other code may know of the core: frozen copies, made on request.

They are for showing, and for shells that have to know the core's state before they send an event. A
view does not follow later events.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from nvshare.core.host.outlook import Outlook as Outlook
from nvshare.core.lease import State
from nvshare.core.memory import Kind, Memory
from nvshare.core.record.client import Client, Park
from nvshare.core.settings import Limits

if TYPE_CHECKING:
    from nvshare.core.device.device import Device


@dataclass(frozen=True, slots=True)
class DeviceView:
    """One device, without its clients."""

    usable: int
    # Bytes of all clients, wherever they are.
    allocated: int
    clients: int
    running: int
    # Without clients that are parked by hand.
    waiting: int
    parked: int
    # The compute of some client is capped.
    has_shares: bool
    # How often a turn for memory was given up, and how often a slice.
    turn_changes: int
    slices: int
    # None: no client runs; no client waits for its end.
    turn_began: float | None
    turn_ends: float | None
    # The number of the newest turn.
    last_turn: int
    # Bytes per second, as memory moved lately.
    bandwidth: float


class ClientView(NamedTuple):
    """One client. Many are made, and often: a tuple is the quickest to make."""

    id: int
    device: str
    kind: Kind
    memory: Memory
    limits: Limits
    # Whether its compute is capped; and the present cap, as it was last told.
    has_share: bool
    share_percent: float | None
    state: State
    # Since when it has been in this state.
    since: float
    # It was told to give way, did not, and others go on without it.
    is_overdue: bool
    # Its work in flight waits for its own calls.
    cannot_drain: bool
    # It is taken to compute all the time.
    is_busy: bool
    # It has its turns together with clients of its group on other devices.
    in_gang: bool
    park: Park | None
    parked_at: float
    # Bytes beyond its limit, which are to be on the host.
    over_limit: int
    # Bytes that were ordered out, and are on the device.
    leaving: int
    # Memory of it is on its way in either direction, or was ordered out.
    is_moving: bool
    # Bytes that have pages on the host; the part of them that has surely left; the bytes that will
    # have pages once its orders are carried out; and the part of those that was surely charged.
    kept: int
    surely_out: int
    booked: int
    charged: int


class ClientSummary(NamedTuple):
    """What users are shown of a client. It is made often, so nothing is computed for it.

    The fields are those of ClientView.
    """

    memory: Memory
    limits: Limits
    share_percent: float | None
    state: State
    since: float
    is_overdue: bool
    cannot_drain: bool
    in_gang: bool
    park: Park | None
    parked_at: float
    kept: int


class Belongings(NamedTuple):
    """What a client has. It is asked for often and for all clients, so it costs little."""

    kind: Kind
    memory: Memory
    is_moving: bool


@dataclass(frozen=True, slots=True)
class Glance:
    """The part of a client's state that is needed after every event (telemetry/time)."""

    state: State
    turn: int
    # Bytes that were moved out, or are about to be.
    on_host: int
    # Memory is on its way out, or was ordered out.
    is_leaving: bool
    # Others have to make room before it may go on.
    lacks_room: bool


@dataclass(frozen=True, slots=True)
class Holding:
    """Where the memory of one client is, context included."""

    device: str
    on_device: int
    # On the host. Memory that is nowhere yet is in neither.
    away: int
    # Bytes that would have to be moved in for it to run well, wherever they are.
    swapped: int


@dataclass(frozen=True, slots=True)
class HostView:
    """What all clients of a node have on the host."""

    # How much may leave all devices. None: no limit.
    limit: int | None
    kept: int
    # Bytes that are there now. Memory that was never used is nowhere, and does not count.
    swapped: int


def view_device(device: "Device") -> DeviceView:
    """Return a device as it is now."""
    state, roster = device.state, device.roster
    return DeviceView(
        usable=roster.usable,
        allocated=roster.pinned + roster.swappable,
        clients=len(roster.clients),
        running=len(roster.running),
        waiting=len(roster.waiting),
        parked=len(roster.parked),
        has_shares=bool(roster.with_share),
        turn_changes=state.turn_changes,
        slices=state.slices,
        turn_began=state.turn_started if roster.running else None,
        turn_ends=state.deadline,
        last_turn=state.last_turn,
        bandwidth=state.pace.bandwidth,
    )


def belongings_of(client: Client) -> Belongings:
    """Return what a client has."""
    is_moving = bool(client.moving.outbound or client.moving.evicting or client.moving.missing)
    return Belongings(client.kind, client.memory, is_moving)


def glance_at(client: Client) -> Glance:
    """Return what a client does."""
    return Glance(
        state=client.state,
        turn=client.turn.number,
        on_host=client.memory.swapped - client.memory.untouched,
        is_leaving=client.moving.outbound > 0 or client.moving.evicting > 0,
        lacks_room=client.moving.missing > 0,
    )


def holding_of(device: "Device", client: Client) -> Holding:
    """Return where the memory of a client is. Memory is on the device until it has left."""
    memory = client.memory
    staying = memory.allocated - memory.swapped + client.moving.outbound
    away = memory.allocated - memory.untouched - staying
    return Holding(device.state.id, staying, away, memory.swapped)


def summary_of(client: Client) -> ClientSummary:
    """Return what users are shown of a client."""
    return ClientSummary(
        client.memory,
        client.limits,
        client.share.percent,
        client.state,
        client.since,
        client.turn.overdue,
        client.drain.failing_since is not None,
        client.in_gang,
        client.park,
        client.parked_at,
        client.host_pages.most_out,
    )


def view_client(device: "Device", client: Client) -> ClientView:
    """Return a client of a device as it is now."""
    return ClientView(
        id=client.id,
        device=device.state.id,
        kind=client.kind,
        memory=client.memory,
        limits=client.limits,
        has_share=client.has_share,
        share_percent=client.share.percent,
        state=client.state,
        since=client.since,
        is_overdue=client.turn.overdue,
        cannot_drain=client.drain.failing_since is not None,
        is_busy=client.work.busy,
        in_gang=client.in_gang,
        park=client.park,
        parked_at=client.parked_at,
        over_limit=client.excess.over_limit,
        leaving=client.leaving,
        is_moving=bool(client.moving.outbound or client.moving.evicting or client.moving.missing),
        kept=client.host_pages.most_out,
        surely_out=client.host_pages.surely_out,
        booked=client.booked,
        charged=client.charged,
    )
