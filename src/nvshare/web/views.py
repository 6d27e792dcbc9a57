"""What a browser is sent, as values: nodes with their snapshots and their last minutes."""

from pydantic import BaseModel, ConfigDict

from nvshare.telemetry.snapshot import NodeStatus


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Lane(_Model):
    """A program that the timeline has something of, whether it is still there or not."""

    id: int
    device: str
    program: str
    user: str
    pod_name: str
    is_gone: bool = False


class Sample(_Model):
    """What programs did between two snapshots.

    ``programs`` has for each id six parts of that time in percent, in the order of TimeParts, then
    what it had on the GPU and what was away on the host, in MiB.
    """

    # Milliseconds of Unix time.
    since: int
    until: int
    programs: dict[int, tuple[int, ...]]


class NodeView(_Model):
    """One node. Without a status there is a problem, and it says which."""

    name: str
    problem: str | None = None
    may_change: bool = False
    status: NodeStatus | None = None
    lanes: tuple[Lane, ...] = ()
    samples: tuple[Sample, ...] = ()


class View(_Model):
    """All nodes."""

    nodes: tuple[NodeView, ...]
