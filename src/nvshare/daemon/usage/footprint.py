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
from typing import TypeAlias

from nvshare.core.events import MemoryChanged
from nvshare.core.memory import Kind
from nvshare.core.view import Belongings
from nvshare.daemon.clients.client import Client
from nvshare.daemon.clients.parts import Parts
from nvshare.daemon.gpus.nvml import LostGpuError, ask_nvml
from nvshare.daemon.gpus.survey import Gpu
from nvshare.daemon.logs import fields
from nvshare.daemon.usage.driver_memory import DriverMemory

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
    try:
        with ask_nvml(uuid) as (nvml, handle):
            found = nvml.nvmlDeviceGetComputeRunningProcesses(handle)
    except LostGpuError:
        return {}
    return {int(one.pid): int(one.usedGpuMemory) for one in found if one.usedGpuMemory}


class Footprint:
    """Polls NVML."""

    def __init__(self, parts: Parts, read: Callable[[str], Footprints] = nvml_footprints) -> None:
        self._parts = parts
        self._read = read
        self._wake = asyncio.Event()
        # GPUs that do not tell are not asked again.
        self._silent: set[str] = set()
        # By GPU and pid, the unreported memory that the last poll has found.
        self._seen: dict[tuple[str, int], int] = {}
        self._driver_memory = DriverMemory()

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
        for gpu in list(self._parts.gpus.all()):
            # A value that was set is not measured.
            is_open = self._parts.gpus.settings[gpu.uuid].lab.context == "auto"
            if is_open and gpu.uuid not in self._silent and self._parts.clients.of(gpu):
                await self._ask(gpu)

    async def _ask(self, gpu: Gpu) -> None:
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
        present = {pid: [client for client, _ in clients] for pid, clients in now.items()}
        self._parts.claims.judge(found, present)
        for pid, clients in told.items():
            is_still = now.get(pid) == clients and not self._may_move(clients)
            if pid in found and is_still and self._are_told_apart(clients):
                rest = found[pid] - sum(plain for _, plain in clients)
                if self._is_sure(gpu, pid, rest):
                    self._take(clients, rest)
                    self._driver_memory.find(gpu.uuid, pid, rest)
        self._forget(gpu, told)
        self._driver_memory.tell(self._parts, gpu)

    def _may_move(self, clients: list[tuple[Client, int]]) -> bool:
        """Whether memory may be in NVML's figure and not in the program's own, or the other way.

        Memory on its way out is known from the order. Memory that comes back is reported when it
        is there: a program with memory away may be bringing it in.
        """
        seen = [self._belongings(client) for client, _ in clients]
        return any(one.kind.is_copied and (one.memory.swapped or one.is_moving) for one in seen)

    def _are_told_apart(self, clients: list[tuple[Client, int]]) -> bool:
        """Whether it is known which of their memory NVML counts. Of a mixture, it is not."""
        return all(self._belongings(one).kind is not Kind.MIXED for one, _ in clients)

    def _told(self, gpu: Gpu) -> dict[int, list[tuple[Client, int]]]:
        """By pid, its clients on a GPU and the plain memory that each reports."""
        told: dict[int, list[tuple[Client, int]]] = defaultdict(list)
        for client in self._parts.clients.of(gpu):
            if client.identity.pid:
                told[client.identity.pid].append((client, self._plain(client)))
        return told

    def _plain(self, client: Client) -> int:
        seen = self._belongings(client)
        explicit = seen.memory.resident if seen.kind is Kind.EXPLICIT else 0
        return seen.memory.pinned - client.context + explicit

    def _is_sure(self, gpu: Gpu, pid: int, rest: int) -> bool:
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

    def _forget(self, gpu: Gpu, told: Mapping[int, object]) -> None:
        """Forget processes that are gone."""
        gone = [key for key in self._seen if key[0] == gpu.uuid and key[1] not in told]
        for key in gone:
            del self._seen[key]
            self._driver_memory.forget(*key)

    def _take(self, clients: list[tuple[Client, int]], rest: int) -> None:
        if rest <= 0:
            # NVML counts differently from us, and the setting is as good as any figure.
            return
        for client, _ in clients:
            if client.id in self._parts.clients:
                self._change(client, rest // len(clients))

    def _change(self, client: Client, context: int) -> None:
        if abs(context - client.context) < _LITTLE:
            return
        client.context = context
        memory = self._belongings(client).memory.with_context(context)
        event = MemoryChanged(now=self._parts.executor.now(), client=client.id, memory=memory)
        self._parts.executor.dispatch(event)

    def _belongings(self, client: Client) -> Belongings:
        return self._parts.executor.core.belongings(client.id)
