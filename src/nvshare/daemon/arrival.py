"""GPUs that are not there yet: on a node of a cluster the driver may come after the daemon."""

import asyncio
import logging

from nvshare.daemon.devices import Gpu, find_gpus
from nvshare.errors import NvshareError

log = logging.getLogger("nvshare.daemon")

_PAUSE = 30.0


def gpus_so_far(wait: bool) -> list[Gpu]:
    """Return the GPUs of this machine; none, if it is all right that there are none."""
    try:
        return find_gpus()
    except NvshareError as error:
        if not wait:
            raise
        log.info("there is no GPU here yet: looking again from time to time (%s)", error.why)
        return []


async def await_gpus(pause: float = _PAUSE) -> list[Gpu]:
    """Look until there are some."""
    while True:
        await asyncio.sleep(pause)
        try:
            # NVML can take its time, and others are waiting to hear that we are well.
            return await asyncio.to_thread(find_gpus)
        except NvshareError:
            continue
