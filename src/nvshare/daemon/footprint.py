"""Reports to the core what contexts, modules and memory pools hold on each GPU, as NVML tells.

NVML lists for every process its memory on a GPU, without managed memory: its context, its loaded
modules, its plain memory, the memory that its pools keep, and its resident explicit memory. Of
these a program reports only its plain and its explicit memory. The rest is assumed when it joins
(``DeviceSettings.context_of``), and known a moment later; it grows with the loaded modules. The
calls are slow on some drivers, and so are made in a thread.
"""

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from nvshare.core.events import MemoryChanged
from nvshare.core.memory import Kind
from nvshare.daemon.devices import open_nvml
from nvshare.daemon.held import Held
from nvshare.daemon.logs import fields

if TYPE_CHECKING:
    from nvshare.core.view import Belongings
    from nvshare.daemon.devices import Gpu
    from nvshare.daemon.node import Member, Node

log = logging.getLogger(__name__)

# The pause between polls of NVML, and the delay after a client has joined.
_PAUSE = 2.0
_MOMENT = 0.1
# Smaller differences are not reported.
_LITTLE = 8 << 20

Footprints: TypeAlias = Mapping[int, int]
"""The bytes that each process has on a GPU."""


def nvml_footprints(uuid: str) -> Footprints:
    """Ask NVML. OSError: this GPU does not tell. Processes without a figure are left out."""
    import pynvml

    try:
        open_nvml()
        handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)
        found = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    except pynvml.NVMLError_GpuIsLost:
        # The GPU may come back, and tell again.
        return {}
    except pynvml.NVMLError as error:
        raise OSError(str(error)) from error
    return {int(one.pid): int(one.usedGpuMemory) for one in found if one.usedGpuMemory}


class Footprint:
    """Polls NVML."""

    def __init__(self, node: "Node", read: Callable[[str], Footprints] = nvml_footprints) -> None:
        self._node = node
        self._read = read
        self._wake = asyncio.Event()
        # GPUs that do not tell are not asked again.
        self._silent: set[str] = set()
        # By GPU and pid, the unreported memory that the last poll has found.
        self._seen: dict[tuple[str, int], int] = {}
        self._held = Held()

    def soon(self) -> None:
        """Poll soon: a client has joined."""
        self._wake.set()

    async def follow(self) -> None:
        """Poll until the daemon ends."""
        while True:
            with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
                await asyncio.wait_for(self._wake.wait(), _PAUSE)
            self._wake.clear()
            await asyncio.sleep(_MOMENT)
            await self.look()

    async def look(self) -> None:
        """Poll the GPUs that have clients."""
        for gpu in list(self._node.gpus.values()):
            # A value that was set is not measured.
            is_open = self._node.settings[gpu.uuid].lab.context == "auto"
            if is_open and gpu.uuid not in self._silent and self._node.sessions_of(gpu):
                await self._ask(gpu)

    async def _ask(self, gpu: "Gpu") -> None:
        # Programs may report while NVML is asked: the figures from before count.
        told = self._told(gpu)
        try:
            found = await asyncio.to_thread(self._read, gpu.uuid)
        except OSError as error:
            self._silent.add(gpu.uuid)
            log.info(
                "NVML does not tell how much memory each process holds, so what its context takes "
                "is assumed: set a larger reserve if programs run out of memory",
                extra=fields(device=gpu.index, why=error),
            )
            return
        now = self._told(gpu)
        present = {pid: [member for member, _ in members] for pid, members in now.items()}
        self._node.belief.judge(gpu, found, present)
        for pid, members in told.items():
            is_still = now.get(pid) == members and not self._may_move(members)
            if pid in found and is_still and self._are_told_apart(members):
                rest = found[pid] - sum(plain for _, plain in members)
                if self._is_sure(gpu, pid, rest):
                    self._take(members, rest)
                    self._held.find(gpu.uuid, pid, rest)
        self._forget(gpu, told)
        self._held.tell(self._node, gpu)

    def _may_move(self, members: "list[tuple[Member, int]]") -> bool:
        """Whether memory may be in NVML's figure and not in the program's own, or the other way.

        Memory on its way out is known from the order. Memory that comes back is reported when it
        is there: a program with memory away may be bringing it in.
        """
        clients = [self._client(member) for member, _ in members]
        return any(
            client.kind.is_copied and (client.memory.swapped or client.is_moving)
            for client in clients
        )

    def _are_told_apart(self, members: "list[tuple[Member, int]]") -> bool:
        """Whether it is known which of their memory NVML counts. Of a mixture, it is not."""
        return all(self._client(member).kind is not Kind.MIXED for member, _ in members)

    def _told(self, gpu: "Gpu") -> "dict[int, list[tuple[Member, int]]]":
        """By pid, its clients on a GPU and the plain memory that each reports."""
        told: dict[int, list[tuple[Member, int]]] = defaultdict(list)
        for session in self._node.sessions_of(gpu):
            if session.member is not None and session.identity.pid:
                told[session.identity.pid].append((session.member, self._plain(session.member)))
        return told

    def _plain(self, member: "Member") -> int:
        client = self._client(member)
        explicit = client.memory.resident if client.kind is Kind.EXPLICIT else 0
        return client.memory.pinned - member.context + explicit

    def _is_sure(self, gpu: "Gpu", pid: int, rest: int) -> bool:
        """Whether two polls in a row have found the same.

        A program reports memory before it has it, and reports its return afterwards. Memory in
        between would be missing here.
        """
        before = self._seen.get((gpu.uuid, pid))
        self._seen[gpu.uuid, pid] = rest
        if before is not None and abs(rest - before) < _LITTLE:
            return True
        self.soon()
        return False

    def _forget(self, gpu: "Gpu", told: "Mapping[int, object]") -> None:
        """Forget processes that are gone."""
        gone = [key for key in self._seen if key[0] == gpu.uuid and key[1] not in told]
        for key in gone:
            del self._seen[key]
            self._held.forget(*key)

    def _take(self, members: "list[tuple[Member, int]]", rest: int) -> None:
        if rest <= 0:
            # NVML counts differently from us, and the setting is as good as any figure.
            return
        for member, _ in members:
            if member.id in self._node.sessions:
                self._change(member, rest // len(members))

    def _change(self, member: "Member", context: int) -> None:
        if abs(context - member.context) < _LITTLE:
            return
        member.context = context
        memory = self._client(member).memory.with_context(context)
        event = MemoryChanged(now=self._node.now(), client=member.id, memory=memory)
        self._node.dispatch(event)

    def _client(self, member: "Member") -> "Belongings":
        return self._node.core.belongings(member.id)
