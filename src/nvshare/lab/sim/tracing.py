"""A simulation as a trace: the daemon's recorder, in virtual time."""

from collections.abc import Callable, Iterable

from nvshare.lab.sim.record import Record
from nvshare.lab.sim.site import Site
from nvshare.lab.sim.switchboard import Switchboard
from nvshare.telemetry.time.client_time import nanoseconds
from nvshare.telemetry.trace.items import Began, Ended, Gpu, Item, Program, Spent
from nvshare.telemetry.trace.recorder import Recorder
from nvshare.telemetry.trace.recording import STARTING, Recording, gather


class Tracing:
    """Keeps the events of all GPUs, from the beginning to the end."""

    def __init__(self, record_of: Callable[[int], Record]) -> None:
        self._record_of = record_of
        self._items: list[Item] = [Began(0, 0.0, "")]
        self._recorders: list[Recorder] = []

    def follow(self, switchboard: Switchboard) -> None:
        """Record the GPUs that one core decides about."""
        if switchboard.times is not None:
            recorder = Recorder(
                switchboard.core, switchboard.times, self._describe, self._items.append
            )
            recorder.begin(0.0)
            self._recorders.append(recorder)

    def end(self, now: float) -> None:
        """Write the rest down."""
        for recorder in self._recorders:
            recorder.end(now)
        self._items.append(Ended(nanoseconds(now)))

    def recording(self, title: str, sites: Iterable[Site], names: Iterable[str]) -> Recording:
        """Return all of it, with the names of the GPUs."""
        gpus = [
            Gpu(site.device, site.index, name, site.usable)
            for site, name in zip(sites, names, strict=True)
        ]
        return gather([*self._items, *gpus], title)

    def _describe(self, key: int) -> Program:
        record = self._record_of(key)
        began, joined = nanoseconds(record.arrival), nanoseconds(record.joined)
        self._items.append(Spent(key, STARTING, began, joined))
        return Program(key, f"gpu{record.gpu}", record.name)
