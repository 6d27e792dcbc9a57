"""One program in a snapshot, with the data that all causes use. Judges nothing."""

from dataclasses import dataclass
from functools import cached_property

from nvshare.telemetry.naming import distinct_names
from nvshare.telemetry.snapshot import ClientStatus, DeviceStatus, HostStatus, NodeStatus
from nvshare.telemetry.words import gib

# The least part of a minute: a program that had the GPU for less was in no other's way.
_LEAST_RIVAL = 0.01
# More names than these do not help.
_MOST_NAMES = 3


@dataclass(frozen=True)
class Case:
    """A program on a GPU, and the others there."""

    client: ClientStatus
    gpu: DeviceStatus
    others: tuple[ClientStatus, ...]
    host: HostStatus

    def part(self, *names: str) -> float:
        """Return the part of its last minute that these states took."""
        return part_of(self.client, *names)

    @cached_property
    def rivals(self) -> tuple[ClientStatus, ...]:
        """The other programs that had the GPU in the last minute, the longest first."""
        used = {one.id: part_of(one, "computing", "memory_in", "thrashing") for one in self.others}
        found = (one for one in self.others if used[one.id] >= _LEAST_RIVAL)
        return tuple(sorted(found, key=lambda one: -used[one.id]))

    @property
    def holders(self) -> tuple[ClientStatus, ...]:
        """The other programs that have a turn now."""
        return tuple(one for one in self.others if one.state in ("running", "yielding"))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The memory that it and its rivals each need on the GPU."""
        return tuple(one.allocated + one.context for one in (self.client, *self.rivals))

    @property
    def lacks(self) -> int:
        """The memory that is missing for all of them; 0 or less: they fit."""
        return sum(self.sizes) - self.gpu.usable

    @property
    def outside(self) -> int:
        """The GPU memory of outsiders."""
        return sum(one.memory for one in self.gpu.outside)

    @property
    def lacks_for_outside(self) -> bool:
        """Whether all would fit without outsiders."""
        return 0 < self.lacks <= self.outside

    @property
    def sizes_in_words(self) -> str:
        """The sizes that do not fit, and the room for them, in words."""
        words = " + ".join(gib(size) for size in self.sizes[: _MOST_NAMES + 1])
        more = len(self.sizes) - _MOST_NAMES - 1
        words += f" + {more} more" if more > 0 else ""
        return f"{words} GiB do not fit in {gib(self.gpu.usable)} GiB"


def names_of(case: Case, clients: tuple[ClientStatus, ...]) -> str:
    """Return the names of other programs of a case, which tell them apart from all there."""
    names = distinct_names(clients, (case.client, *case.others), _MOST_NAMES)
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def part_of(client: ClientStatus, *names: str) -> float:
    """Return the part of a program's last minute that these states took."""
    parts = client.recent.attribution
    total = parts.total
    return sum(float(getattr(parts, name)) for name in names) / total if total else 0.0


def case_of(status: NodeStatus, client: ClientStatus) -> Case:
    """Return a program of a snapshot with its GPU and the others there."""
    (gpu,) = (gpu for gpu in status.devices if gpu.uuid == client.device)
    others = (one for one in status.clients if one.device == client.device and one.id != client.id)
    return Case(client, gpu, tuple(others), status.host)
