"""A core's knowledge at one moment, to print with a failure. Checks nothing."""

from collections.abc import Iterator
from operator import attrgetter

from nvshare.core.core import Core
from nvshare.core.record.client import Client

# Words for a client, each shown if its attribute is true.
_MARKS = (
    *("turn.soft_revoked", "turn.wants", "turn.overdue", "drain.undrained"),
    *("gang.rests", "gang.stalled", "gang.rides", "hold.waits"),
    *("standing.visits", "standing.bursts", "is_barred", "work.busy"),
)


def picture(core: Core) -> str:
    """Return the state of every client on all devices."""
    return "\n".join(_lines(core))


def _lines(core: Core) -> Iterator[str]:
    for device in core._devices.values():
        state, roster = device.state, device.roster
        yield (
            f"{state.id}: {roster.regime.name.value}, head {state.head}, capacity "
            f"{roster.capacity}, deadline {state.deadline}, alarms "
            f"{ {kind.value: at for kind, at in state.alarms.items()} }"
        )
        yield from (f"  {_client(client)}" for client in roster.clients.values())


def _client(client: Client) -> str:
    marks = [mark for mark in _MARKS if attrgetter(mark)(client)]
    gang = "" if not client.in_gang else f" of gang {client.gang.number}"
    hold = (
        "" if client.hold.stage is None else f" {client.hold.stage.value} since {client.hold.since}"
    )
    park = "" if client.park is None else f" parked {client.park.value}"
    return (
        f"{client.id}{gang}: {client.state.value} since {client.since}{hold}{park}, weighs "
        f"{client.weight} of {client.memory}, place {client.place}, {' '.join(marks)}"
    )
