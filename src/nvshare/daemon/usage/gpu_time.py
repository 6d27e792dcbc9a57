"""Reports to the core how long each GPU has worked for each process, as NVML tells.

Only GPUs are polled where a client has a share of compute and is not alone. The calls are slow on
some drivers, and so are made in a thread.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TypeAlias

from nvshare.core.events import Given
from nvshare.daemon.clients.parts import Parts
from nvshare.daemon.gpus.nvml import LostGpuError, ask_nvml
from nvshare.daemon.gpus.survey import Gpu
from nvshare.daemon.logs import fields

log = logging.getLogger(__name__)

# NVML has samples of a sixth of a second or more.
_PAUSE = 0.5

# By pid, the time of the last sample, and the percentage of the time that the process had since.
Samples: TypeAlias = Mapping[int, tuple[int, int]]


def nvml_samples(uuid: str, seen: int) -> Samples:
    """Return the samples that are newer than the last one seen. OSError: this GPU does not tell.

    Nothing is returned if no sample has been taken since, or if processes have just come or gone:
    then the samples can be read a moment later.
    """
    try:
        with ask_nvml(uuid) as (nvml, handle):
            try:
                found = nvml.nvmlDeviceGetProcessUtilization(handle, seen)
            except (nvml.NVMLError_NotFound, nvml.NVMLError_InsufficientSize):
                return {}
    except LostGpuError:
        return {}
    return {int(one.pid): (int(one.timeStamp), int(one.smUtil)) for one in found}


class GpuTime:
    """Polls NVML."""

    def __init__(self, parts: Parts, samples: Callable[[str, int], Samples] = nvml_samples) -> None:
        self._parts = parts
        self._samples = samples
        # When each GPU was last polled, and the newest sample seen then. GPUs that do not tell are
        # not asked again.
        self._asked: dict[str, float] = {}
        self._seen: dict[str, int] = {}
        self._silent: set[str] = set()

    async def follow(self) -> None:
        """Poll until the daemon ends."""
        while True:
            await asyncio.sleep(_PAUSE)
            await self.look()

    async def look(self) -> None:
        """Poll the GPUs where it matters."""
        for gpu in list(self._parts.gpus.all()):
            if gpu.uuid not in self._silent and self._matters(gpu):
                await self._ask(gpu)
            else:
                self._asked.pop(gpu.uuid, None)

    def _matters(self, gpu: Gpu) -> bool:
        device = self._parts.executor.core.view(gpu.uuid)
        return device.has_shares and device.clients > 1

    async def _ask(self, gpu: Gpu) -> None:
        try:
            samples = await asyncio.to_thread(self._samples, gpu.uuid, self._seen.get(gpu.uuid, 0))
        except OSError as error:
            self._silent.add(gpu.uuid)
            log.warning(
                "NVML reports no utilisation per process: shares are kept, but programs that run "
                "beside others get less than theirs",
                extra=fields(device=gpu.index, why=error),
            )
            return
        if not any(one.identity.pid in samples for one in self._parts.clients.of(gpu)):
            # Nothing is new, or NVML knows the processes by other pids than we do.
            return
        now = self._parts.executor.now()
        before, self._asked[gpu.uuid] = self._asked.get(gpu.uuid), now
        for time, _ in samples.values():
            self._seen[gpu.uuid] = max(time, self._seen.get(gpu.uuid, 0))
        self._tell(gpu, samples, now, None if before is None else now - before)

    def _tell(self, gpu: Gpu, samples: Samples, now: float, passed: float | None) -> None:
        pids = {client.id: client.identity.pid for client in self._parts.clients.of(gpu)}
        for client in self._parts.executor.core.client_views(pids):
            if client.has_share:
                _, percent = samples.get(pids[client.id], (0, 0))
                seconds = None if passed is None else percent / 100 * passed
                self._parts.executor.dispatch(Given(now=now, client=client.id, seconds=seconds))
