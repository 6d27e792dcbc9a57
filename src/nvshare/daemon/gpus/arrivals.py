"""Polls for GPUs that appear, get lost, and come back.

On a node of a cluster the driver may come after the daemon. A GPU may fall off the bus, and come
back after a reset. Another daemon may hold a GPU, and end. Each of these concerns one GPU, and the
others go on.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from nvshare.daemon.gpus.gpus import Gpus
from nvshare.daemon.gpus.outages import Outages
from nvshare.daemon.gpus.survey import Gpu, Missing, Survey, find_gpus, look_again, survey_gpus
from nvshare.daemon.logs import fields
from nvshare.errors import BadInputError, NvshareError
from nvshare.launch.holders import TakenError

log = logging.getLogger("nvshare.daemon")

_PAUSE = 2.0


def gpus_so_far(wait: bool) -> Survey:
    """Return the GPUs of this machine. Without ``wait``, having none is an error."""
    if not wait:
        # Raises if there are none.
        find_gpus()
    try:
        return survey_gpus()
    except NvshareError as error:
        log.info(
            "there is no GPU on this machine yet: the daemon looks again from time to time (%s)",
            error.why,
        )
        return Survey()


def choose(found: Survey, names: Sequence[str]) -> Survey:
    """Keep the GPUs that a daemon is to share: those named by index or UUID, or all."""
    if not names:
        return found
    known = {name for gpu in found.gpus for name in (str(gpu.index), gpu.uuid)}
    known |= {str(one.index) for one in found.missing}
    unknown = [name for name in names if name not in known]
    # A UUID may name a GPU that is missing at the moment.
    if unknown and not found.missing and found.gpus:
        raise BadInputError(
            f"devices: there is no GPU {', '.join(unknown)}",
            why="the GPUs are " + ", ".join(f"{gpu.index} ({gpu.uuid})" for gpu in found.gpus),
            do="name GPUs by index or UUID, or leave `devices` out to share all of them",
        )
    return Survey(
        tuple(gpu for gpu in found.gpus if str(gpu.index) in names or gpu.uuid in names),
        tuple(one for one in found.missing if str(one.index) in names),
    )


class Arrivals:
    """Polls the list of GPUs. ``admit`` begins to share one, or raises TakenError."""

    def __init__(
        self,
        gpus: Gpus,
        outages: Outages,
        names: Sequence[str],
        admit: Callable[[Gpu], Awaitable[None]],
        look: Callable[[], Survey] = look_again,
    ) -> None:
        self._gpus = gpus
        self._outages = outages
        self._names = names
        self._admit = admit
        self._look = look

    async def follow(self) -> None:
        """Poll until the daemon ends."""
        while True:
            await asyncio.sleep(_PAUSE)
            await self.look()

    async def look(self) -> None:
        """Poll once."""
        try:
            # NVML can be slow, and clients wait for the event loop.
            found = await asyncio.to_thread(self._look)
        except NvshareError as error:
            why = error.why or error.what
            found = Survey(missing=tuple(Missing(i, why) for i in self._shared_indexes()))
        await self.take_note(choose(found, self._names))

    async def take_note(self, found: Survey) -> None:
        """Compare the GPUs found with the shared ones."""
        for gpu in found.gpus:
            if gpu.uuid in self._gpus:
                self._outages.end(gpu.index)
            else:
                await self._begin(gpu)
        listed = {gpu.index for gpu in found.gpus} | {one.index for one in found.missing}
        unlisted = [Missing(i, "NVML no longer lists it") for i in self._shared_indexes() - listed]
        for one in (*found.missing, *unlisted):
            self._outages.begin(one.index, one.why)

    async def _begin(self, gpu: Gpu) -> None:
        try:
            await self._admit(gpu)
        except TakenError as error:
            self._outages.begin(gpu.index, error.why or error.what, gpu.uuid)
            return
        self._outages.end(gpu.index)
        log.info("there is another GPU", extra=fields(device=gpu.index, uuid=gpu.uuid))

    def _shared_indexes(self) -> set[int]:
        return {gpu.index for gpu in self._gpus.all()}
