"""Where snapshots come from, and who carries changes out: for the page, that is all of nvshare."""

from typing import Any, Protocol

from nvshare.telemetry.snapshot import GroupStatus, NodeStatus


class Source(Protocol):
    """A daemon. Calls may take a while, and raise NvshareError."""

    def status(self) -> NodeStatus:
        """Return the node as it is now."""

    def may_change(self) -> bool:
        """Whether limits can be changed from here."""

    def change_limits(self, program: int, changes: dict[str, Any]) -> GroupStatus:
        """Change the limits of a program, and of all that share them."""

    def park(self, program: int, parked: bool) -> GroupStatus:
        """Take a program, and all that share its limits, off the GPUs; or let them go on."""
