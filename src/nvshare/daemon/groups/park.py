"""Parking by hand: for a whole group, and for clients that join it meanwhile.

The core decides what follows from it.

It is not stored: with the next daemon, all programs run on.
"""

import logging

from nvshare.core import events
from nvshare.daemon.executor import Executor
from nvshare.daemon.groups.groups import Group
from nvshare.daemon.groups.names import name_of
from nvshare.daemon.groups.pods import Pods
from nvshare.daemon.logs import fields
from nvshare.errors import BadInputError

log = logging.getLogger("nvshare.node")


def park(executor: Executor, pods: Pods, group: Group, by: str) -> None:
    """Have all memory of a group leave the GPUs, and give it no turn."""
    if group.parked:
        raise BadInputError(
            f"{name_of(group, pods)} is parked already",
            do="let it go on with `nvshare unpark`",
        )
    _change(executor, pods, group, parked=True, by=by)


def unpark(executor: Executor, pods: Pods, group: Group, by: str) -> None:
    """Let a group have turns again."""
    if not group.parked:
        raise BadInputError(
            f"{name_of(group, pods)} was not parked by hand",
            why="a program that is parked for being idle comes back by itself, at its next CUDA "
            "call",
            do="see `nvshare status` for the programs that are parked",
        )
    _change(executor, pods, group, parked=False, by=by)


def _change(executor: Executor, pods: Pods, group: Group, *, parked: bool, by: str) -> None:
    group.parked = parked
    for client in list(group.members):
        executor.dispatch(events.ParkChanged(now=executor.now(), client=client, parked=parked))
    what = "parked" if parked else "unparked"
    log.info(what, extra=fields(group=group.key, name=name_of(group, pods), by=by))
