"""Refusals of memory that could not be on a device beside all that has to be, with the reasons.

Explicit memory has to be on the device as a whole for a turn, and no driver pushes it out. So no
client gets more of it than has room beside all pinned memory, and no newcomer's context takes the
room that another client needs to come back.
"""

from nvshare.core.clients.host_room import gib
from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Verdict
from nvshare.core.memory import Kind, Memory
from nvshare.core.record.client import Client


def misfit(
    roster: Roster, client: Client, memory: Memory, *, for_context: bool
) -> tuple[Verdict, str] | None:
    """Return the verdict on requested memory, and the reason; None if it may be there."""
    if for_context:
        return _context(roster, memory.pinned - client.memory.pinned)
    why = _too_large(roster, client, memory)
    return None if why is None else (Verdict.TOO_LARGE, why)


def _too_large(roster: Roster, client: Client, memory: Memory) -> str | None:
    """Return why memory could not be on the device as a whole, if that is needed."""
    if client.kind is not Kind.EXPLICIT or memory.allocated <= client.memory.allocated:
        return None
    room = roster.room + client.memory.pinned - memory.pinned - _kept_free(roster, client)
    if memory.swappable <= room:
        return None
    return (
        f"{gib(memory.swappable)} of explicit memory have to be on the GPU at once, and there is "
        f"room for {gib(max(0, room))}; use managed memory"
    )


def _kept_free(roster: Roster, client: Client) -> int:
    """Return the bytes that a client has to leave free.

    First, the memory that it may gain without asking: otherwise it could not come back after it has
    left for another client. Second, if no other client has a context, room for one. Memory moves
    out for a newcomer, but must be able to come back beside its context: otherwise one program
    could close the device to all others. Beside other clients no such room is kept, since it would
    be of no use to them. A newcomer that finds no room then waits for another client to end, as on
    a device without nvshare.
    """
    alone = not any(one.memory.pinned for one in roster.clients.values() if one is not client)
    return roster.unasked + (roster.context if alone else 0)


def _context(roster: Roster, context: int) -> tuple[Verdict, str] | None:
    """Return why one more context could never have room, or has none at present."""
    room = roster.room - context
    if room < 0:
        text = (
            f"{gib(roster.pinned)} of {gib(roster.usable)} cannot leave the GPU; "
            "end programs, or let their memory move"
        )
        return Verdict.TOO_LARGE, text
    whole = [c.memory.swappable for c in roster.copied.values() if c.kind is Kind.EXPLICIT]
    largest = max(whole, default=0)
    if largest <= room:
        return None
    text = (
        f"{gib(largest)} of one program's explicit memory have to be on the GPU at once, and "
        f"would have room for {gib(room)}; end programs, or use managed memory"
    )
    return Verdict.NOT_NOW, text
