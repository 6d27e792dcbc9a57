"""A node's status as tables. Asks nobody."""

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nvshare.telemetry.snapshot import ClientStatus, DeviceStatus, HostStatus, NodeStatus

_GIB = 1 << 30
_COLOURS = {"running": "green", "waiting": "yellow", "yielding": "magenta", "idle": "dim"}


def draw(status: NodeStatus) -> RenderableType:
    """Draw everything."""
    head = f"nvshare {status.version}, daemon {status.pid}, up {duration(status.uptime_seconds)}"
    parts: list[RenderableType] = [Text(head), draw_devices(status.devices)]
    parts.append(Text(host(status.host)))
    parts.append(draw_clients(status) if status.clients else Text("No program is connected."))
    parts += [Text(note) for note in notes(status)]
    return Group(*parts)


def draw_devices(devices: tuple[DeviceStatus, ...]) -> Table:
    """Draw the GPUs."""
    table = Table("GPU", "name", "mode", "turn", "memory", "programs", "running", "waiting")
    for gpu in devices:
        table.add_row(
            str(gpu.index),
            escape(gpu.name),
            gpu.settings.mode,
            _turn(gpu),
            f"{gib(gpu.allocated)} of {gib(gpu.usable)} GiB",
            str(gpu.clients),
            str(gpu.running),
            str(gpu.waiting),
        )
    return table


def draw_clients(status: NodeStatus) -> Table:
    """Draw the programs."""
    index = {gpu.uuid: gpu.index for gpu in status.devices}
    table = Table(
        *("GPU", "pid", "program", "state", "memory", "allocation", "limits", "used"),
        *("turns", "waited", "moved"),
    )
    for client in sorted(status.clients, key=lambda c: (index.get(c.device, -1), c.id)):
        table.add_row(
            str(index.get(client.device, "?")),
            str(client.pid),
            escape(": ".join(filter(None, (client.pod_name, client.program)))),
            f"[{_COLOURS[client.state]}]{_state(client)}[/]",
            memory(client),
            allocation(client),
            limits(client),
            used(client),
            str(client.turns),
            duration(client.waited_seconds),
            f"{gib(client.moved_out + client.moved_in)} GiB",
        )
    return table


def host(status: HostStatus) -> str:
    """Say what the GPUs use of the host's memory."""
    return (
        f"host memory: {gib(status.swapped_out)} GiB moved out, {gib(status.kept)} of at most "
        f"{gib(status.limit)} GiB kept"
    )


def notes(status: NodeStatus) -> list[str]:
    """Say whose memory cannot leave, and who waits for that."""
    lines = []
    for client in status.clients:
        who = f"pid {client.pid} ({client.program})"
        if client.stuck:
            lines.append(
                f"{who}: {gib(client.stuck)} GiB cannot leave the GPU: {client.stuck_because}"
            )
        if stays := staying(client):
            lines.append(f"{who}: stays on the GPU: {stays}")
        if client.held_up:
            lines.append(f"{who}: has to wait: {client.held_up_because}")
    return lines


# What people are told of memory that cannot leave. That it is as they asked for is no surprise.
_STAYING = {
    "handles": "by cuMemCreate",
    "rdma": "for RDMA",
    "exported": "exported to others",
    "several_gpus": "used by several GPUs",
    "pools": "from memory pools",
    "arrays": "in arrays",
    "graphs": "for graphs",
}
# Less than this is not worth a line.
_LITTLE = 64 << 20


def staying(client: ClientStatus) -> str:
    """Say what of its memory cannot leave the GPU, and why."""
    found = [(client.pinned_by.get(name, 0), why) for name, why in _STAYING.items()]
    if sum(size for size, _ in found) < _LITTLE:
        return ""
    return ", ".join(f"{gib(size)} GiB {why}" for size, why in found if size)


def memory(client: ClientStatus) -> str:
    """What a program has, and how much of it is on the host."""
    text = f"{gib(client.allocated)} GiB"
    return f"{text}, {gib(client.swapped_out)} swapped" if client.swapped_out else text


def allocation(client: ClientStatus) -> str:
    """How its memory is allocated, why, and what its next process gets if that is another way."""
    why = f" ({client.allocation_because})" if client.allocation_because else ""
    later = f"; {client.allocation_next} from its next process on" if client.allocation_next else ""
    return f"{client.allocation}{why}{later}"


def limits(client: ClientStatus) -> str:
    """Memory, of all that share the limit, and compute; or a dash."""
    most = client.limits.memory_limit
    words = [f"{gib(client.group_used)} of {gib(most)} GiB"] if most is not None else []
    words += ["over its limit"] if most is not None and client.group_used > most else []
    words += [compute(client)] if client.limits.compute_percent is not None else []
    words += [client.limits.priority] if client.limits.priority else []
    return ", ".join(words) or "-"


def compute(client: ClientStatus) -> str:
    """A share as it was set, what it comes to if that is less, and whether it held anybody back."""
    text = f"{client.limits.compute_percent} %"
    if client.share is not None and client.share < (client.limits.compute_percent or 0):
        text += f" (now {client.share:.0f} %)"
    text += ", burst" if client.limits.burst else ""
    if client.throttled_seconds:
        text += f", held back {duration(client.throttled_seconds)}"
    return text


def used(client: ClientStatus) -> str:
    """Of the GPU's time, in the last 1, 10 and 60 seconds."""
    return " ".join(f"{percent:.0f}" for percent in client.used_percent.values()) + " %"


def gib(size: int) -> str:
    """Bytes as GiB, short."""
    return f"{size / _GIB:.1f}" if size < 100 * _GIB else f"{size / _GIB:.0f}"


def duration(seconds: float) -> str:
    """Seconds for a person: 3.2 s, 12 min, 5 h 3 min."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = int(seconds // 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def _state(client: ClientStatus) -> str:
    text = f"{client.state} {duration(client.state_seconds)}"
    text += ", overdue" if client.overdue else ""
    text += ", cannot give way" if client.cannot_drain else ""
    if client.parked:
        why = "by hand" if client.parked == "by hand" else "for being idle"
        text += f", parked {why} {duration(client.parked_seconds)} ago"
    return text


def _turn(gpu: DeviceStatus) -> str:
    length = gpu.settings.turn_seconds
    text = "auto" if length == "auto" else f"{length:g} s"
    if gpu.turn_ends_in is not None:
        text += f", {gpu.turn_ends_in:.0f} s left"
    return text
