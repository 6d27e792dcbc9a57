"""A core's knowledge at one moment, to print with a failure. Checks nothing."""

from collections.abc import Iterator

from nvshare.core.core import Core
from nvshare.core.record.client import Client

# Words for a client, each shown if its attribute is true.
_MARKS = (
    *("soft_revoked", "wants", "overdue", "undrained", "rests", "stalled", "rides"),
    *("visits", "bursts", "is_barred", "busy", "hold_waits"),
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
    marks = [mark for mark in _MARKS if getattr(client, mark)]
    gang = "" if client.gang is None else f" of gang {client.gang}"
    hold = "" if client.hold is None else f" {client.hold.value} since {client.hold_since}"
    park = "" if client.park is None else f" parked {client.park.value}"
    return (
        f"{client.id}{gang}: {client.state.value} since {client.since}{hold}{park}, weighs "
        f"{client.weight} of {client.memory}, place {client.place}, {' '.join(marks)}"
    )
