"""Thrashing in words: which programs page against each other, and what to do.

The daemon judges whether they do (daemon/usage/thrashing.py).
"""

from collections.abc import Sequence

from nvshare.telemetry.naming import argument_for, distinct_names
from nvshare.telemetry.snapshot import ClientStatus, DeviceStatus
from nvshare.telemetry.words import duration, gib

# More names than these do not help.
_MOST_NAMES = 3


def say_thrashing(gpu: DeviceStatus, clients: Sequence[ClientStatus]) -> str:
    """Say which programs thrash, for how long, and what they have together. Empty: none does."""
    found = gpu.thrashing
    if found is None:
        return ""
    several = len(found.programs) > 1
    names = _names(gpu, clients)
    pages = "page against each other" if several else "pages against itself"
    run = "they run at the same time with" if several else "it runs with"
    stand = "have stood" if several else "has stood"
    return (
        f"{names} {pages}: {run} {gib(found.memory)} GiB where GPU {gpu.index} has room for "
        f"{gib(found.room)} GiB{_outside(gpu)}, and {stand} still for {duration(found.seconds)}."
    )


def help_thrashing(gpu: DeviceStatus, clients: Sequence[ClientStatus]) -> str:
    """Say what ends it. Empty: there is nothing to end."""
    found = gpu.thrashing
    if found is None:
        return ""
    there = [one for one in clients if one.id in found.programs]
    if gpu.settings.mode in ("concurrent", "off") and len(found.programs) > 1:
        return f"`nvshare set --gpu {gpu.index} mode=auto` lets them take turns."
    if len(found.programs) == 1:
        outside = "End the processes without nvshare; or give" if gpu.outside else "Give"
        return f"{outside} it less memory, such as smaller batches, or a larger GPU."
    if not there:
        return "Park one of them with `nvshare park`, or end one."
    command = f"`nvshare park {argument_for(_to_park(there))}`"
    return (
        f"{command} takes one of them off the GPU, as soon as its work in flight has ended; if "
        "that takes too long, end one of them."
    )


def cannot_give_way(client: ClientStatus) -> str:
    """Say why a program that was told to give way does not yet. Empty: nothing keeps it."""
    if client.thrashes:
        return "its work hardly goes on, because it pages against another program"
    if client.cannot_drain:
        return "its work waits for its own next calls"
    return "it was told to before, and has not" if client.overdue else ""


def _to_park(clients: Sequence[ClientStatus]) -> ClientStatus:
    """Return the newest of those that have not failed to give way, if there are any."""
    able = [one for one in clients if not one.cannot_drain and not one.overdue]
    return max(able or clients, key=lambda one: one.id)


def _names(gpu: DeviceStatus, clients: Sequence[ClientStatus]) -> str:
    found = () if gpu.thrashing is None else gpu.thrashing.programs
    here = sorted((one for one in clients if one.device == gpu.uuid), key=lambda one: one.id)
    names = distinct_names([one for one in here if one.id in found], here, _MOST_NAMES)
    if not names:
        return "Programs" if len(found) > 1 else "A program"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _outside(gpu: DeviceStatus) -> str:
    size = sum(one.memory for one in gpu.outside)
    return f" beside the {gib(size)} GiB of processes without nvshare" if size else ""
