"""Reports to the core how much of a GPU outsiders use: processes without nvshare.

NVML lists the processes on a GPU and the memory of each, without managed memory. Listed processes
that are no clients are outsiders. Used memory beyond the listed memory, and beyond all managed
memory that clients may have, belongs to outsiders as well: to a process that cannot be seen, or it
is managed memory of an outsider. The driver keeps pages of managed memory for clients whose memory
has left, so the result is a lower bound.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nvshare.core.events import OutsideChanged
from nvshare.core.memory import Kind
from nvshare.daemon.clients.parts import Parts
from nvshare.daemon.gpus.nvml import ask_nvml
from nvshare.daemon.gpus.survey import Gpu
from nvshare.daemon.logs import fields
from nvshare.daemon.tenants.identity import describe_process
from nvshare.telemetry.snapshot import OutsideProcess

log = logging.getLogger(__name__)

_PAUSE = 2.0
# Smaller differences are not reported.
_LITTLE = 64 << 20
# The driver's own memory beyond what it reports as reserved; how much is assumed.
_DRIVERS_OWN = 256 << 20
UNKNOWN = "memory that no process accounts for"


@dataclass(frozen=True, slots=True)
class Holdings:
    """NVML's figures: bytes in use, and by process. None: it does not say how much."""

    used: int
    processes: Mapping[int, int | None] = field(default_factory=dict)


def nvml_holdings(uuid: str) -> Holdings:
    """Ask NVML. OSError: this GPU does not tell."""
    with ask_nvml(uuid) as (nvml, handle):
        memory = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
        compute = by_process(nvml.nvmlDeviceGetComputeRunningProcesses(handle))
        # A process that does graphics and compute is in both lists, with the same figure.
        found = {**by_process(_graphics(nvml, handle)), **compute}
    return Holdings(int(memory.used), found)


def by_process(listed: Iterable[Any]) -> dict[int, int | None]:
    """Add up figures by pid: processes of different containers may have the same pid."""
    found: dict[int, int | None] = {}
    for one in listed:
        pid, used = int(one.pid), one.usedGpuMemory
        before = found.get(pid, 0)
        found[pid] = None if used is None or before is None else before + used
    return found


def _graphics(nvml: Any, handle: Any) -> list[Any]:
    try:
        return list(nvml.nvmlDeviceGetGraphicsRunningProcesses(handle))
    except nvml.NVMLError:
        return []


class Outsiders:
    """Polls NVML."""

    def __init__(self, parts: Parts, read: Callable[[str], Holdings] = nvml_holdings) -> None:
        self._parts = parts
        self._read = read
        self.warns = True
        # By GPU, what the last poll has found, and what was believed after it.
        self._seen: dict[str, dict[int, int]] = {}
        self._believed: dict[str, tuple[OutsideProcess, ...]] = {}
        self._told: dict[str, int] = {}

    def of(self, gpu: Gpu) -> tuple[OutsideProcess, ...]:
        """Return the processes that use a GPU without nvshare."""
        return self._believed.get(gpu.uuid, ())

    async def follow(self) -> None:
        """Poll until the daemon ends."""
        while True:
            await asyncio.sleep(_PAUSE)
            await self.look()

    async def look(self) -> None:
        """Poll all GPUs once."""
        for gpu in list(self._parts.gpus.all()):
            try:
                holdings = await asyncio.to_thread(self._read, gpu.uuid)
            except OSError:
                # It is lost, or does not tell. The last belief is as good as any.
                continue
            self._take(gpu, self._outside(gpu, holdings))

    def _outside(self, gpu: Gpu, holdings: Holdings) -> dict[int, int]:
        """Return outside memory by pid; pid 0 is memory that no process accounts for."""
        own = {client.identity.pid for client in self._parts.clients.all()}
        here = {client.identity.pid for client in self._parts.clients.of(gpu)}
        found = {pid: size or 0 for pid, size in holdings.processes.items() if pid not in own}
        if 0 in own or (here and not here & set(holdings.processes)):
            # Clients that we or NVML cannot see, or see under other pids, may be among them.
            found = {}
        rest = 0
        if None not in holdings.processes.values():
            listed = sum(size or 0 for size in holdings.processes.values())
            rest = holdings.used - listed - self._managed(gpu)
        return {**found, **({0: rest} if rest > _DRIVERS_OWN else {})}

    def _managed(self, gpu: Gpu) -> int:
        """Return the most managed memory that clients may have on a GPU."""
        core, kinds = self._parts.executor.core, (Kind.MANAGED, Kind.MIXED)
        seen = [core.belongings(client.id) for client in self._parts.clients.of(gpu)]
        return sum(one.memory.own for one in seen if one.kind in kinds)

    def _take(self, gpu: Gpu, found: dict[int, int]) -> None:
        """Believe what two polls in a row have found: a new process may be about to join."""
        before = self._seen.get(gpu.uuid, {})
        self._seen[gpu.uuid] = found
        sure = {pid: min(size, before[pid]) for pid, size in found.items() if pid in before}
        known = {one.pid for one in self.of(gpu)}
        self._believed[gpu.uuid] = tuple(_process(pid, size) for pid, size in sorted(sure.items()))
        if self.warns and (new := [one for one in self.of(gpu) if one.pid not in known]):
            self._warn(gpu, new)
        self._tell(gpu, sum(sure.values()))

    def _warn(self, gpu: Gpu, new: list[OutsideProcess]) -> None:
        for one in new:
            log.warning(
                "a GPU is used without nvshare: programs have less room",
                extra=fields(device=gpu.index, **one.model_dump()),
            )

    def _tell(self, gpu: Gpu, size: int) -> None:
        told = self._told.get(gpu.uuid, 0)
        if abs(size - told) >= _LITTLE or (told and not size):
            self._told[gpu.uuid] = size
            now = self._parts.executor.now()
            event = OutsideChanged(now=now, device=gpu.uuid, outside_bytes=size)
            self._parts.executor.dispatch(event)


def _process(pid: int, memory: int) -> OutsideProcess:
    if not pid:
        return OutsideProcess(pid=0, program=UNKNOWN, memory=memory)
    uid, program = describe_process(pid)
    return OutsideProcess(pid=pid, uid=uid, program=program, memory=memory)
