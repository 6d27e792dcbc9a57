"""The values that a browser is sent: nodes with their snapshots and their last minutes."""

from pydantic import BaseModel, ConfigDict

from nvshare.telemetry.snapshot import NodeStatus


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Lane(_Model):
    """A program in the timeline, whether it is still connected or not."""

    id: int
    device: str
    program: str
    user: str
    pod_name: str
    is_gone: bool = False


class Sample(_Model):
    """What programs did between two snapshots.

    ``programs`` has for each id the parts of that time in percent, in the order of TimeParts, then
    its memory on the GPU and its memory away on the host, in MiB.
    """

    # Milliseconds of Unix time.
    since: int
    until: int
    programs: dict[int, tuple[int, ...]]


class NodeView(_Model):
    """One node. Without a status, ``problem`` says why."""

    name: str
    problem: str | None = None
    may_change: bool = False
    status: NodeStatus | None = None
    lanes: tuple[Lane, ...] = ()
    samples: tuple[Sample, ...] = ()


class View(_Model):
    """All nodes."""

    nodes: tuple[NodeView, ...]
