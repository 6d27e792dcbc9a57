"""Modules and further contexts, which a group's memory limit counts beside its allocations.

footprint.py finds the memory that NVML lists for a process and the process does not report. A bare
context in it is unavoidable, and no part of a limit: it is taken to be the least that any process
on the GPU was ever seen with. The members themselves count what their pools keep.

Only programs with managed memory are considered. NVML does not list managed memory, and so what it
lists is known to be something else. Memory of the other kinds takes more of the GPU than was
requested, since it comes in whole pages: that would count here, and limits are exact.
"""

from typing import TYPE_CHECKING

from nvshare.core.memory import Kind

if TYPE_CHECKING:
    from nvshare.daemon.clients.session import Session
    from nvshare.daemon.gpus.survey import Gpu
    from nvshare.daemon.node import Node

# Less than a few pages may be due to rounding.
_LITTLE = 8 << 20


class Held:
    """By GPU and process, the memory that was found."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int], int] = {}
        self._bare: dict[str, int] = {}

    def find(self, uuid: str, pid: int, rest: int) -> None:
        """Note the memory on a GPU that a process does not report."""
        if rest > 0:
            self._found[uuid, pid] = rest
            self._bare[uuid] = min(rest, self._bare.get(uuid, rest))

    def forget(self, uuid: str, pid: int) -> None:
        """Forget a process that is gone."""
        self._found.pop((uuid, pid), None)

    def tell(self, node: "Node", gpu: "Gpu") -> None:
        """Write the memory found into the quota pages of the groups that use a GPU."""
        for group in node.groups.all():
            page = group.pages.get(gpu.uuid)
            if page is None:
                continue
            members: dict[int, Session] = {}
            for session in group.sessions.values():
                if session.member is not None and session.member.gpu is gpu:
                    members[session.identity.pid] = session
            page.hold(sum(self._of(node, gpu, session) for session in members.values()))

    def _of(self, node: "Node", gpu: "Gpu", session: "Session") -> int:
        member = session.member
        found = self._found.get((gpu.uuid, session.identity.pid))
        if member is None or found is None:
            return 0
        if node.core.client_view(member.id).kind is not Kind.MANAGED:
            return 0
        kept = member.group.pages[gpu.uuid].kept(session.slot_key)
        more = found - self._bare[gpu.uuid] - kept
        return more if more >= _LITTLE else 0
