"""GPUs that cannot be used at the moment: which, why, and since when. Their programs are told."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nvshare.daemon.logs import fields
from nvshare.wire import frames

if TYPE_CHECKING:
    from nvshare.daemon.clients.session import Session
    from nvshare.daemon.gpus.survey import Gpu
    from nvshare.daemon.node import Node

log = logging.getLogger("nvshare.daemon")


@dataclass(frozen=True, slots=True)
class Outage:
    """A GPU that cannot be used. The UUID is empty if it was never known."""

    index: int
    uuid: str
    why: str
    since: float


class Outages:
    """All absent GPUs, by index.

    A lost GPU is still scheduled: its programs get their errors from the driver.
    """

    def __init__(self, node: "Node") -> None:
        self._node = node
        self._absent: dict[int, Outage] = {}

    def all(self) -> Iterable[Outage]:
        """All absent GPUs."""
        return self._absent.values()

    def of(self, gpu: "Gpu") -> Outage | None:
        """The outage of a shared GPU, if it is lost."""
        return self._absent.get(gpu.index)

    def begin(self, index: int, why: str, uuid: str = "") -> None:
        """Note that a GPU cannot be used. It is logged once."""
        if (known := self._absent.get(index)) is not None and known.why == why:
            return
        shared = next((gpu for gpu in self._node.gpus.values() if gpu.index == index), None)
        since = known.since if known else self._node.now()
        outage = Outage(index, shared.uuid if shared else uuid, why, since)
        self._absent[index] = outage
        log.warning("a GPU cannot be used", extra=fields(device=index, why=why))
        if shared is not None and known is None:
            for session in self._node.sessions_of(shared):
                self.tell(session, outage)

    def end(self, index: int) -> None:
        """Note that a GPU can be used again."""
        if self._absent.pop(index, None) is not None:
            log.info("a GPU can be used again", extra=fields(device=index))

    def tell(self, session: "Session", outage: Outage) -> None:
        """Let a program know that its GPU is lost."""
        text = f"GPU {outage.index} cannot be used ({outage.why}): calls to it may fail"
        session.send(frames.Notice(text))
