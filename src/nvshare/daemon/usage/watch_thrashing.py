"""Watches the GPUs for programs that page against each other. thrashing.py judges.

For display, and to divide the time of programs; nothing is scheduled by it.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable

from nvshare.core.lease import State
from nvshare.core.memory import Kind
from nvshare.daemon.clients.client import Client
from nvshare.daemon.clients.counters import NOTHING
from nvshare.daemon.clients.parts import Parts
from nvshare.daemon.gpus.nvml import ask_nvml
from nvshare.daemon.gpus.survey import Gpu
from nvshare.daemon.logs import fields
from nvshare.daemon.usage.outsiders import Outsiders
from nvshare.daemon.usage.thrashing import Look, Program, Thrashing, judge, seconds_to_judge

log = logging.getLogger(__name__)

_PAUSE = 1.0
# A program that has worked for less has shown no pace yet.
_LEAST_SEEN = 1.0


def nvml_utilisation(uuid: str) -> float | None:
    """Return how much of its last moments a GPU was busy, in percent. None: it does not tell.

    What it tells of each process is of no use here: whether the time in which a kernel waits for
    pages counts is not documented.
    """
    try:
        with ask_nvml(uuid) as (nvml, handle):
            return float(nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
    except OSError:
        return None


class _Watched:
    """One GPU whose memory is not enough for the programs that run, and since it is not."""

    def __init__(self) -> None:
        self.looks: deque[Look] = deque()
        # By client, the calls per second that it made before.
        self.usual: dict[int, float | None] = {}

    def add(self, look: Look, seconds: float) -> None:
        """Keep a look, and those before it that are judged with it."""
        self.looks.append(look)
        while len(self.looks) > 1 and look.now - self.looks[1].now >= seconds:
            self.looks.popleft()


class ThrashWatch:
    """Looks once a second."""

    def __init__(
        self,
        parts: Parts,
        outsiders: Outsiders,
        utilisation: Callable[[str], float | None] = nvml_utilisation,
    ) -> None:
        self._parts = parts
        self._outsiders = outsiders
        self._utilisation = utilisation
        self._watched: dict[str, _Watched] = {}
        self._found: dict[str, Thrashing] = {}

    def of(self, gpu: Gpu) -> Thrashing | None:
        """Return what thrashes on a GPU, if anything does."""
        return self._found.get(gpu.uuid)

    def includes(self, gpu: Gpu, client: int) -> bool:
        """Whether a client is among those that thrash on its GPU."""
        found = self._found.get(gpu.uuid)
        return found is not None and client in found.programs

    async def follow(self) -> None:
        """Look until the daemon ends."""
        while True:
            await asyncio.sleep(_PAUSE)
            await self.look()

    async def look(self) -> None:
        """Look at all GPUs once."""
        for gpu in list(self._parts.gpus.all()):
            if self._fits(gpu) or not self._look_at(gpu).is_crowded:
                self._watched.pop(gpu.uuid, None)
                self._note(gpu, None)
                continue
            utilisation = await asyncio.to_thread(self._utilisation, gpu.uuid)
            watched = self._watched.setdefault(gpu.uuid, _Watched())
            watched.add(self._look_at(gpu, utilisation), seconds_to_judge(self.of(gpu)))
            clock = self._parts.executor.gpu_clock
            self._note(gpu, judge(watched.looks, self.of(gpu), clock))

    def _fits(self, gpu: Gpu) -> bool:
        """Whether all programs fit, wherever their memory is. That is quick to see."""
        device = self._parts.executor.core.view(gpu.uuid)
        return device.allocated <= device.usable

    def _look_at(self, gpu: Gpu, utilisation: float | None = None) -> Look:
        executor = self._parts.executor
        return Look(
            now=executor.now(),
            usable=executor.core.view(gpu.uuid).usable,
            programs=tuple(map(self._describe, self._parts.clients.of(gpu))),
            utilisation=utilisation,
            has_outsiders=bool(self._outsiders.of(gpu)),
        )

    def _describe(self, client: Client) -> Program:
        core, told = self._parts.executor.core, client.counters.told
        summary, kind = core.client_summary(client.id), core.belongings(client.id).kind
        holding = core.holding(client.id)
        on_gpu = 0 if holding is None else holding.on_device
        is_paged = kind in (Kind.MANAGED, Kind.MIXED)
        busy = told.busy_ns / 1e9
        usual, watched = None, self._watched.get(client.gpu.uuid)
        if watched is not None and told != NOTHING:
            # By its first report since then: later ones are of the time in which it may thrash.
            pace = told.launches / busy if busy >= _LEAST_SEEN else None
            usual = watched.usual.setdefault(client.id, pace)
        return Program(
            id=client.id,
            holds=summary.state in (State.RUNNING, State.YIELDING) or summary.is_overdue,
            is_told=(summary.state is State.YIELDING or summary.is_overdue or summary.cannot_drain),
            is_paged=is_paged,
            memory=on_gpu,
            fixed=summary.memory.pinned if is_paged else on_gpu,
            calls=told.launches,
            busy_seconds=busy,
            usual=usual,
        )

    def _note(self, gpu: Gpu, found: Thrashing | None) -> None:
        before = self._found.pop(gpu.uuid, None)
        if found is not None:
            self._found[gpu.uuid] = found
        if (before.programs if before else ()) == (found.programs if found else ()):
            return
        clients = {client for one in self._found.values() for client in one.programs}
        self._parts.executor.times.note_thrashing(self._parts.executor.now(), clients)
        if found is None:
            log.info("programs page against each other no more", extra=fields(device=gpu.index))
        elif before is None:
            log.warning(
                "programs page against each other and stand still: they run at the same time, and "
                "do not fit together",
                extra=fields(
                    device=gpu.index,
                    clients=found.programs,
                    memory=found.memory,
                    room=found.room,
                ),
            )
