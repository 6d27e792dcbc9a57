"""Parking by hand: for a whole group, and for clients that join it meanwhile.

The core decides what follows from it.

It is not stored: with the next daemon, all programs run on.
"""

import logging
from typing import TYPE_CHECKING

from nvshare.core import events
from nvshare.daemon.groups.names import name_of
from nvshare.daemon.logs import fields
from nvshare.errors import BadInputError

if TYPE_CHECKING:
    from nvshare.daemon.groups.groups import Group
    from nvshare.daemon.node import Node

log = logging.getLogger("nvshare.node")


def park(node: "Node", group: "Group", by: str) -> None:
    """Have all memory of a group leave the GPUs, and give it no turn."""
    if group.parked:
        raise BadInputError(
            f"{name_of(group, node.pods)} is parked already",
            do="let it go on with `nvshare unpark`",
        )
    _change(node, group, parked=True, by=by)


def unpark(node: "Node", group: "Group", by: str) -> None:
    """Let a group have turns again."""
    if not group.parked:
        raise BadInputError(
            f"{name_of(group, node.pods)} was not parked by hand",
            why="a program that is parked for being idle comes back by itself, at its next CUDA "
            "call",
            do="see `nvshare status` for the programs that are parked",
        )
    _change(node, group, parked=False, by=by)


def _change(node: "Node", group: "Group", *, parked: bool, by: str) -> None:
    group.parked = parked
    for client in list(group.sessions):
        node.dispatch(events.ParkChanged(now=node.now(), client=client, parked=parked))
    what = "parked" if parked else "unparked"
    log.info(what, extra=fields(group=group.key, name=name_of(group, node.pods), by=by))
