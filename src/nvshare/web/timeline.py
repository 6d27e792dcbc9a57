"""The last minutes of a node, from successive snapshots: which programs ran, moved and waited."""

from collections import deque

from nvshare.telemetry.snapshot import ClientStatus, NodeStatus, TimeParts
from nvshare.web.views import Lane, Sample

KEPT = 300_000
# A longer gap between snapshots is not shown: its details are not known. A gap of some seconds, on
# a busy machine, still shows how they were spent.
_GAP = 15_000
_MIB = 1 << 20
_PARTS = tuple(TimeParts.model_fields)


class Timeline:
    """Samples of the last five minutes. Times are milliseconds of Unix time."""

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque()
        self._lanes: dict[int, Lane] = {}
        self._before: dict[int, TimeParts] = {}
        self._last = 0
        self._daemon = 0

    def add(self, now: int, status: NodeStatus) -> None:
        """Take a snapshot in."""
        if status.pid != self._daemon:
            # A new daemon counts from zero.
            self._forget()
            self._daemon = status.pid
        if self._before and 0 < now - self._last <= _GAP:
            programs = {one.id: self._row(one) for one in status.clients}
            self._samples.append(Sample(since=self._last, until=now, programs=programs))
        self._before = {one.id: one.attribution for one in status.clients}
        self._last = now
        self._note_lanes(status)
        while self._samples and self._samples[0].until < now - KEPT:
            self._samples.popleft()

    def after(self, moment: int) -> tuple[Sample, ...]:
        """Return the samples since a moment."""
        return tuple(one for one in self._samples if one.until > moment)

    def lanes(self) -> tuple[Lane, ...]:
        """Return the programs of the samples, and those that are connected now."""
        return tuple(self._lanes.values())

    def _forget(self) -> None:
        self._samples.clear()
        self._lanes.clear()
        self._before = {}

    def _row(self, client: ClientStatus) -> tuple[int, ...]:
        """Return how its time since the previous snapshot was spent, and where its memory is."""
        before = self._before.get(client.id, TimeParts())
        spent = [getattr(client.attribution, part) - getattr(before, part) for part in _PARTS]
        total = sum(spent)
        away = min(client.swapped_out, client.allocated)
        return (
            *(round(100 * max(0.0, part) / total) if total > 0 else 0 for part in spent),
            (client.allocated - away) // _MIB,
            away // _MIB,
        )

    def _note_lanes(self, status: NodeStatus) -> None:
        here = {one.id: _lane(one) for one in status.clients}
        mentioned = {number for sample in self._samples for number in sample.programs}
        gone = {
            number: lane.model_copy(update={"is_gone": True})
            for number, lane in self._lanes.items()
            if number in mentioned and number not in here
        }
        self._lanes = {**gone, **here}


def _lane(client: ClientStatus) -> Lane:
    return Lane(
        id=client.id,
        device=client.device,
        program=client.program,
        user=client.user,
        pod_name=client.pod_name,
    )
