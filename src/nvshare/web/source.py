"""The source of snapshots, which also makes changes: all that the page knows of nvshare."""

from typing import Any, Protocol

from nvshare.telemetry.snapshot import GroupStatus, NodeStatus


class Source(Protocol):
    """A daemon. Calls may take a while, and raise NvshareError."""

    def status(self) -> NodeStatus:
        """Return the node as it is now."""

    def may_change(self) -> bool:
        """Whether limits can be changed from here."""

    def change_limits(self, program: int, changes: dict[str, Any]) -> GroupStatus:
        """Change the limits of a program, and so of its whole group."""

    def park(self, program: int, parked: bool) -> GroupStatus:
        """Park a program with its whole group, or let it continue."""
