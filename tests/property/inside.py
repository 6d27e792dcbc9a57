"""What these tests read inside the core, all in one place: its devices and clients.

Tests know these names only. When the records of the core change, this file does.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

from nvshare.core.clients.roster import Roster
from nvshare.core.core import Core
from nvshare.core.host.admit import host_lets_all
from nvshare.core.host.explain import held_up_clients
from nvshare.core.lease import State
from nvshare.core.record.client import Client, Park
from nvshare.core.record.device import DeviceState

# Words for a client, each shown if its attribute is true.
_MARKS = (
    *("turn.soft_revoked", "turn.wants", "turn.overdue", "drain.undrained"),
    *("gang.rests", "gang.stalled", "gang.rides", "hold.waits"),
    *("precedence.visits", "precedence.bursts", "is_barred", "work.busy"),
)


@dataclass(frozen=True, slots=True)
class Known:
    """A client, as the core knows it."""

    _client: Client

    @property
    def id(self) -> int:
        """Its number."""
        return self._client.id

    @property
    def group(self) -> str:
        """Its group, if it has one."""
        return self._client.group

    @property
    def gang(self) -> int | None:
        """The number of its gang."""
        return self._client.gang.number

    @property
    def state(self) -> State:
        """Its state."""
        return self._client.state

    @property
    def since(self) -> float:
        """When it came to its state."""
        return self._client.since

    @property
    def holds(self) -> bool:
        """Whether it has a turn."""
        return self._client.has_turn

    @property
    def rests(self) -> bool:
        """Whether it has given its turn up, and its gang has not."""
        return self._client.gang.rests

    @property
    def stalled(self) -> bool:
        """Whether it waits for a rank that could not run."""
        return self._client.gang.stalled

    @property
    def is_overdue(self) -> bool:
        """Whether others go on without it."""
        return self._client.turn.overdue

    @property
    def is_undrained(self) -> bool:
        """Whether its work in flight cannot drain, and it is left alone for now."""
        return self._client.drain.undrained

    @property
    def cannot_drain(self) -> bool:
        """Whether it has said that its work in flight cannot drain, and has not drained since."""
        return self._client.drain.failing_since is not None

    @property
    def is_parked_by_hand(self) -> bool:
        """Whether a person has parked it."""
        return self._client.park is Park.BY_HAND

    @property
    def may_be_parked(self) -> bool:
        """Whether it is parked by hand, or will be after a long rest."""
        return self.is_parked_by_hand or self._client.rest.asked_at is not None

    @property
    def swappable(self) -> int:
        """Its memory that can leave the device."""
        return self._client.memory.swappable

    @property
    def away(self) -> int:
        """Its memory that is not on the device."""
        return self._client.memory.swapped


@dataclass(frozen=True, slots=True)
class Card:
    """A device, as the core knows it."""

    _state: DeviceState
    _roster: Roster

    def __contains__(self, client: int) -> bool:
        """Whether a client is on it."""
        return client in self._roster.clients

    def __getitem__(self, client: int) -> Known:
        """Return one of its clients."""
        return Known(self._roster.clients[client])

    @property
    def clients(self) -> Iterator[Known]:
        """All of its clients."""
        return map(Known, self._roster.clients.values())

    @property
    def running(self) -> list[Known]:
        """Clients that have turns, and were not told to give way."""
        return [Known(client) for client in self._roster.running.values()]

    @property
    def waiting(self) -> list[Known]:
        """Clients that wait for turns, in their order."""
        return [Known(client) for client in self._roster.waiting]

    @property
    def parked(self) -> list[Known]:
        """Parked clients."""
        return [Known(client) for client in self._roster.parked.values()]

    @property
    def held_up(self) -> list[Known]:
        """Waiting clients whose way the host cannot clear."""
        return [Known(client) for client in held_up_clients(self._roster)]

    @property
    def has_newcomers(self) -> bool:
        """Whether somebody waits for room for a context."""
        return bool(self._roster.newcomers)

    @property
    def everything_fits(self) -> bool:
        """Whether all clients may run together."""
        return self._roster.everything_fits

    @property
    def is_sliced(self) -> bool:
        """Whether clients take slices, for which no memory moves."""
        return self._roster.regime.is_sliced

    @property
    def host_lets_running(self) -> bool:
        """Whether the host can hold what the running clients push out."""
        return host_lets_all(self._roster, self._roster.running)

    @property
    def reconnect_until(self) -> float:
        """Until when clients of an earlier daemon are waited for."""
        return self._state.reconnect_until


def cards(core: Core) -> list[Card]:
    """Return all devices of a core."""
    return [Card(device.state, device.roster) for device in core._devices.values()]


def card(core: Core, name: str) -> Card:
    """Return one device."""
    device = core._devices[name]
    return Card(device.state, device.roster)


def states(core: Core) -> dict[int, State]:
    """Return the states of all clients."""
    rosters = [device.roster for device in core._devices.values()]
    return {client.id: client.state for one in rosters for client in one.clients.values()}


def resting(core: Core) -> set[int]:
    """Return the clients that rest in their gangs' turns."""
    rosters = [device.roster for device in core._devices.values()]
    return {client.id for one in rosters for client in one.clients.values() if client.gang.rests}


def picture(core: Core) -> str:
    """Return the state of every client on all devices, to print with a failure."""
    return "\n".join(_lines(core))


def _lines(core: Core) -> Iterator[str]:
    for device in core._devices.values():
        state, roster = device.state, device.roster
        yield (
            f"{state.id}: {roster.regime.name.value}, head {state.head}, capacity "
            f"{roster.capacity}, deadline {state.deadline}, alarms "
            f"{ {kind.value: at for kind, at in state.alarms.items()} }"
        )
        yield from (f"  {_line(client)}" for client in roster.clients.values())


def _line(client: Client) -> str:
    marks = [mark for mark in _MARKS if attrgetter(mark)(client)]
    gang = f" of gang {client.gang.number}" if client.in_gang else ""
    stage = client.hold.stage
    hold = "" if stage is None else f" {stage.value} since {client.hold.since}"
    park = "" if client.park is None else f" parked {client.park.value}"
    return (
        f"{client.id}{gang}: {client.state.value} since {client.since}{hold}{park}, weighs "
        f"{client.weight} of {client.memory}, place {client.place}, {' '.join(marks)}"
    )
