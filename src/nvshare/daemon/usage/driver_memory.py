"""Modules and further contexts, which a group's memory limit counts beside its allocations.

footprint.py finds the memory that NVML lists for a process and the process does not report. A bare
context in it is unavoidable, and no part of a limit: it is taken to be the least that any process
on the GPU was ever seen with. The members themselves count what their pools keep.

Only programs with managed memory are considered. NVML does not list managed memory, and so what it
lists is known to be something else. Memory of the other kinds takes more of the GPU than was
requested, since it comes in whole pages: that would count here, and limits are exact.
"""

from collections import defaultdict

from nvshare.core.core import Core
from nvshare.core.memory import Kind
from nvshare.daemon.clients.client import Client
from nvshare.daemon.clients.parts import Parts
from nvshare.daemon.gpus.survey import Gpu
from nvshare.daemon.groups.quota_page import Page

# Less than a few pages may be due to rounding.
_LITTLE = 8 << 20


class DriverMemory:
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

    def tell(self, parts: Parts, gpu: Gpu) -> None:
        """Write the memory found into the quota pages of the groups that use a GPU."""
        members: defaultdict[str, dict[int, Client]] = defaultdict(dict)
        for client in parts.clients.of(gpu):
            members[client.group.key][client.identity.pid] = client
        for group in parts.groups.all():
            page = group.pages.get(gpu.uuid)
            if page is not None:
                clients = members[group.key].values()
                page.note_driver_memory(
                    sum(self._of(parts.executor.core, page, one) for one in clients)
                )

    def _of(self, core: Core, page: Page, client: Client) -> int:
        found = self._found.get((client.gpu.uuid, client.identity.pid))
        if found is None or core.client_view(client.id).kind is not Kind.MANAGED:
            return 0
        more = found - self._bare[client.gpu.uuid] - page.pooled(client.slot_key)
        return more if more >= _LITTLE else 0
