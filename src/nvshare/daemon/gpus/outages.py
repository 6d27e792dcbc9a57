"""GPUs that cannot be used at the moment: which, why, and since when. Their programs are told."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from nvshare.daemon.gpus.gpus import Gpus
from nvshare.daemon.gpus.survey import Gpu
from nvshare.daemon.logs import fields

log = logging.getLogger("nvshare.daemon")


@dataclass(frozen=True, slots=True)
class Outage:
    """A GPU that cannot be used. The UUID is empty if it was never known."""

    index: int
    uuid: str
    why: str
    since: float

    @property
    def notice(self) -> str:
        """What its programs are told."""
        return f"GPU {self.index} cannot be used ({self.why}): calls to it may fail"


class Outages:
    """All outages, by index. ``tell`` sends a notice to the programs of a shared GPU.

    A lost GPU is still scheduled: its programs get their errors from the driver.
    """

    def __init__(
        self, gpus: Gpus, clock: Callable[[], float], tell: Callable[[Gpu, str], None]
    ) -> None:
        self._gpus = gpus
        self._clock = clock
        self._tell = tell
        self._outages: dict[int, Outage] = {}

    def all(self) -> Iterable[Outage]:
        """All outages."""
        return self._outages.values()

    def of(self, gpu: Gpu) -> Outage | None:
        """The outage of a shared GPU, if it is lost."""
        return self._outages.get(gpu.index)

    def begin(self, index: int, why: str, uuid: str = "") -> None:
        """Note that a GPU cannot be used. It is logged once."""
        if (known := self._outages.get(index)) is not None and known.why == why:
            return
        shared = next((gpu for gpu in self._gpus.all() if gpu.index == index), None)
        since = known.since if known else self._clock()
        outage = Outage(index, shared.uuid if shared else uuid, why, since)
        self._outages[index] = outage
        log.warning("a GPU cannot be used", extra=fields(device=index, why=why))
        if shared is not None and known is None:
            self._tell(shared, outage.notice)

    def end(self, index: int) -> None:
        """Note that a GPU can be used again."""
        if self._outages.pop(index, None) is not None:
            log.info("a GPU can be used again", extra=fields(device=index))
