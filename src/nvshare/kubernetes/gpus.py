"""The GPUs of this node and their health, read from NVML by a thread.

NVML waits for events, and a call can hang on a broken GPU, so it has a thread of its own.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nvshare.kubernetes.health import Health, Look
from nvshare.kubernetes.placement import Card

log = logging.getLogger("nvshare.plugin")

_LOOK_SECONDS = 2.0
# Between attempts while there is no driver.
_PAUSE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class GpuState:
    """A GPU, and why it cannot be used; empty: it can."""

    card: Card
    problem: str = ""


OnChange = Callable[[tuple[GpuState, ...]], None]


class GpuWatch:
    """A thread that watches the GPUs, and reports when one appears, breaks or is repaired."""

    def __init__(
        self,
        on_change: OnChange,
        *,
        look_seconds: float = _LOOK_SECONDS,
        pause_seconds: float = _PAUSE_SECONDS,
    ) -> None:
        self._on_change = on_change
        self._look_seconds = look_seconds
        self._pause_seconds = pause_seconds
        self._cards: dict[str, Card] = {}
        self._health = Health()
        self._told: tuple[GpuState, ...] | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="nvml", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End soon, without waiting for a call that hangs."""
        self._stop.set()

    def _run(self) -> None:
        import pynvml

        while not self._stop.is_set():
            try:
                with _session(pynvml):
                    found = self._attend(pynvml)
            except pynvml.NVMLError as error:
                # There is no driver, or it is being replaced.
                found = False
                self._lose(f"NVML: {error}", self._cards)
            if not found:
                self._stop.wait(self._pause_seconds)

    def _attend(self, nvml: Any) -> bool:
        """Check the GPUs again and again. Return whether there are any.

        Ends when one of them is in trouble: a GPU that is lost in this session of NVML may be back
        in the next.
        """
        handles = self._find(nvml)
        self._lose("NVML does not find it any more", self._cards.keys() - handles.keys())
        with _subscription(nvml, handles) as events:
            while handles and not self._stop.is_set():
                for uuid, handle in handles.items():
                    self._health.take_look(uuid, _look(nvml, handle), time.monotonic())
                self._tell()
                self._await_xid(nvml, events)
                if any(self._health.is_lost(uuid) for uuid in self._cards):
                    break
        return bool(handles)

    def _find(self, nvml: Any) -> dict[str, Any]:
        handles = {}
        for index in range(nvml.nvmlDeviceGetCount()):
            # A GPU that cannot be queried keeps its place, and is in trouble if it was here before.
            with contextlib.suppress(nvml.NVMLError):
                handle = nvml.nvmlDeviceGetHandleByIndex(index)
                uuid = nvml.nvmlDeviceGetUUID(handle)
                memory = nvml.nvmlDeviceGetMemoryInfo(handle).total
                self._cards[uuid] = Card(index, uuid, int(memory))
                handles[uuid] = handle
        return handles

    def _await_xid(self, nvml: Any, events: Any) -> None:
        try:
            event = nvml.nvmlEventSetWait_v2(events, int(self._look_seconds * 1000))
            uuid = nvml.nvmlDeviceGetUUID(event.device)
        except (nvml.NVMLError_Timeout, nvml.NVMLError_GpuIsLost):
            # A timeout, or an error that the next check of the GPU will show.
            return
        except nvml.NVMLError_NotSupported:
            self._stop.wait(self._look_seconds)
            return
        log.warning("GPU %s reports XID %d", uuid, event.eventData)
        self._health.take_xid(uuid, event.eventData, time.monotonic())

    def _lose(self, why: str, uuids: Iterable[str]) -> None:
        for uuid in uuids:
            self._health.take_look(uuid, Look(trouble=why), time.monotonic())
        self._tell()

    def _tell(self) -> None:
        cards = sorted(self._cards.values(), key=lambda card: card.index)
        states = tuple(GpuState(card, self._health.problem(card.uuid)) for card in cards)
        if states != self._told:
            self._told = states
            self._on_change(states)


@contextlib.contextmanager
def _session(nvml: Any) -> Iterator[None]:
    nvml.nvmlInit()
    try:
        yield
    finally:
        with contextlib.suppress(nvml.NVMLError):
            nvml.nvmlShutdown()


@contextlib.contextmanager
def _subscription(nvml: Any, handles: Mapping[str, Any]) -> Iterator[Any]:
    """Yield a set of events for XIDs. GPUs without such events are only polled."""
    events = nvml.nvmlEventSetCreate()
    try:
        for handle in handles.values():
            with contextlib.suppress(nvml.NVMLError_NotSupported, nvml.NVMLError_GpuIsLost):
                nvml.nvmlDeviceRegisterEvents(handle, nvml.nvmlEventTypeXidCriticalError, events)
        yield events
    finally:
        nvml.nvmlEventSetFree(events)


def _look(nvml: Any, handle: Any) -> Look:
    try:
        # A cheap call that queries the GPU itself.
        nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)
    except nvml.NVMLError_NotSupported:
        pass
    except nvml.NVMLError as error:
        return Look(trouble=f"NVML: {error}")
    return Look(needs_reset=_needs_reset(nvml, handle))


def _needs_reset(nvml: Any, handle: Any) -> bool | None:
    wanted = nvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION
    try:
        (field,) = nvml.nvmlDeviceGetFieldValues(handle, [wanted])
    except nvml.NVMLError:
        return None
    return bool(field.value.uiVal) if field.nvmlReturn == nvml.NVML_SUCCESS else None
