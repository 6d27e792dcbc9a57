"""Remarks on programs, GPUs and the host, in words. Does not talk to the daemon."""

from nvshare.cli.limit_words import further_limits
from nvshare.telemetry.snapshot import ClientStatus, HostStatus, NodeStatus, OutsideProcess
from nvshare.telemetry.thrashing import help_thrashing, say_thrashing
from nvshare.telemetry.words import duration as duration
from nvshare.telemetry.words import gib as gib
from nvshare.users import user_name


def host(status: HostStatus) -> str:
    """Say how much of the host's memory the GPUs use."""
    return (
        f"host memory: {gib(status.swapped_out)} GiB moved out, {gib(status.kept)} of at most "
        f"{gib(status.limit)} GiB kept"
    )


def notes(status: NodeStatus) -> list[str]:
    """Say which GPUs have problems, which memory cannot leave, and which programs wait for what."""
    lines = absent(status) + outside(status) + thrashing(status)
    gpus = {gpu.uuid: gpu.index for gpu in status.devices}
    for client in status.clients:
        who = f"{client.id} ({client.program}, pid {client.pid})"
        if client.stuck:
            lines.append(
                f"{who}: {gib(client.stuck)} GiB cannot leave the GPU: {client.stuck_because}"
            )
        if stays := staying(client):
            lines.append(f"{who}: stays on the GPU: {stays}")
        if client.held_up:
            lines.append(f"{who}: has to wait: {client.held_up_because}")
        if client.gang_waits_for:
            numbers = ", ".join(str(gpus[gpu]) for gpu in client.gang_waits_for if gpu in gpus)
            lines.append(f"{who}: waits for room for its whole program: on GPU {numbers}")
    return lines


def absent(status: NodeStatus) -> list[str]:
    """Say which GPUs cannot be used, and since when."""
    lines = [
        f"GPU {gpu.index}: lost {duration(gpu.lost_seconds)} ago: {gpu.lost_because}"
        for gpu in status.devices
        if gpu.lost_seconds is not None
    ]
    return lines + [
        f"GPU {one.index}: not shared for {duration(one.seconds)}: {one.why}"
        for one in status.missing
    ]


def outside(status: NodeStatus) -> list[str]:
    """Say which outsiders use GPUs, and how much memory they take."""
    return [
        f"GPU {gpu.index}: used without nvshare, which leaves less room: "
        + ", ".join(map(_outsider, gpu.outside))
        for gpu in status.devices
        if gpu.outside
    ]


def thrashing(status: NodeStatus) -> list[str]:
    """Say on which GPUs programs page against each other, and what to do."""
    return [
        f"GPU {gpu.index}: thrashing: {say_thrashing(gpu, status.clients)} "
        f"{help_thrashing(gpu, status.clients)}"
        for gpu in status.devices
        if gpu.thrashing is not None
    ]


def _outsider(one: OutsideProcess) -> str:
    user = "" if one.uid is None else f", {user_name(one.uid)}"
    process = f" (pid {one.pid}{user})" if one.pid > 0 else ""
    who = f"{one.program or 'a process'}{process}"
    return f"{who}: {gib(one.memory)} GiB"


def remarks(status: NodeStatus) -> list[str]:
    """Spell out the marks in the table of programs."""
    return [
        f"{client.id} ({client.program}, pid {client.pid}): {remark}"
        for client in status.clients
        for remark in _remarks(client)
    ]


def _remarks(client: ClientStatus) -> list[str]:
    limit = client.limits.memory_limit
    words = []
    if limit is not None and client.group_used > limit:
        words.append(f"over its limit: {gib(client.group_used)} of {gib(limit)} GiB")
    if client.overdue:
        words.append(
            "overdue: it was told to give way and has not; other programs go on without it"
        )
    if client.cannot_drain:
        words.append("cannot give way: its work waits for its own next calls")
    if client.parked:
        why = "by hand" if client.parked == "by hand" else "for being idle"
        words.append(f"parked {why} {duration(client.parked_seconds)} ago")
    return words


# Why memory cannot leave. Memory that is native on request is no surprise, and not listed.
_STAYING = {
    "handles": "by cuMemCreate",
    "rdma": "for RDMA",
    "exported": "exported to others",
    "several_gpus": "used by several GPUs",
    "pools": "from memory pools",
    "arrays": "in arrays",
    "graphs": "for graphs",
}
# Smaller amounts are not worth a line.
_LITTLE = 64 << 20


def staying(client: ClientStatus) -> str:
    """Say how much of a program's memory cannot leave the GPU, and why."""
    found = [(client.pinned_by.get(name, 0), why) for name, why in _STAYING.items()]
    if sum(size for size, _ in found) < _LITTLE:
        return ""
    return ", ".join(f"{gib(size)} GiB {why}" for size, why in found if size)


def allocation(client: ClientStatus) -> str:
    """Its allocation kind, the reason for it, and the kind of its next process if that differs."""
    why = f" ({client.allocation_because})" if client.allocation_because else ""
    later = f"; {client.allocation_next} from its next process on" if client.allocation_next else ""
    return f"{client.allocation}{why}{later}"


def limits(client: ClientStatus) -> str:
    """The memory limit, with the use of the whole group, and the compute limit; or a dash."""
    most = client.limits.memory_limit
    words = [f"{gib(client.group_used)} of {gib(most)} GiB"] if most is not None else []
    words += ["over its limit"] if most is not None and client.group_used > most else []
    words += [compute(client)] if client.limits.compute_percent is not None else []
    words += [client.limits.priority] if client.limits.priority else []
    return ", ".join([*words, *further_limits(client.limits)]) or "-"


def compute(client: ClientStatus) -> str:
    """A share as set, its actual value if that is less, and whether it held the program back."""
    text = f"{client.limits.compute_percent} %"
    if client.share is not None and client.share < (client.limits.compute_percent or 0):
        text += f" (now {client.share:.0f} %)"
    text += ", burst" if client.limits.burst else ""
    if client.throttled_seconds:
        text += f", held back {duration(client.throttled_seconds)}"
    return text
