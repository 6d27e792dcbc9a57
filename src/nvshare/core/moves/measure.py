"""What is learned of a device from moves that clients report.

record/pace.py decides how much that counts.
"""

from nvshare.core.events import Moved
from nvshare.core.record.client import Client
from nvshare.core.record.device import DeviceState


def learn_from(state: DeviceState, client: Client, event: Moved) -> None:
    """Learn from a move. A client without a turn and without an order has no move to report.

    The exception is a client that has just given its turn up: its outbound memory may have arrived.
    """
    is_late = event.now - client.since < state.settings.turn_min
    if client.has_turn or client.moving.evicting or client.moving.outbound or is_late:
        measure_move(
            state,
            client,
            event.now,
            event.seconds,
            out_bytes=event.out_bytes,
            in_bytes=event.in_bytes,
            more=event.left > 0,
        )


def measure_move(
    state: DeviceState,
    client: Client,
    now: float,
    seconds: float,
    *,
    out_bytes: int = 0,
    in_bytes: int = 0,
    more: bool = False,
) -> None:
    """Learn from a move. It began no earlier than the last report for its direction.

    Both directions go on at the same time, and are reported one after the other.
    """
    since = client.moving.in_at if in_bytes and not out_bytes else client.moving.out_at
    client.moving.note_move(now, out=bool(out_bytes or not in_bytes), into=bool(in_bytes))
    seconds = min(seconds, now - since)
    state.pace.measure(now, seconds, out_bytes=out_bytes, in_bytes=in_bytes, more=more)
