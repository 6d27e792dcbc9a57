"""The record of one program while it is simulated. Decides nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from nvshare.telemetry.time.client_time import Part


class Kind(Enum):
    """The activities of a program that a picture shows."""

    STARTUP = "starting"
    WAIT = "waiting"
    RUN = "running"
    IN = "moving in"
    OUT = "moving out"


@dataclass(frozen=True, slots=True)
class Span:
    """An activity with its duration."""

    kind: Kind
    begin: float
    end: float


class Burst(NamedTuple):
    """Work that a program has waited for. None: that did not happen before the end."""

    # When it was wanted, when the GPU began with it, and when it was done.
    wanted: float
    began: float | None
    ended: float | None


@dataclass(slots=True)
class Record:
    """The life of one program. Times are seconds from the beginning of the simulation."""

    name: str
    gpu: int
    arrival: float
    ended: float | None = None
    iterations: float = 0.0
    loop_began: float | None = None
    loop_ended: float = 0.0
    waited: float = 0.0
    longest_wait: float = 0.0
    turns: int = 0
    released: int = 0
    moved_out: int = 0
    moved_in: int = 0
    # When each phase began, and the seconds that finished kernels would have taken alone.
    phases: list[float] = field(default_factory=list)
    computed: float = 0.0
    # None: no picture is wanted.
    spans: list[Span] | None = None
    bursts: list[Burst] | None = None
    # The parts of its time since it came to the core, in nanoseconds; and when that was.
    spent: Mapping[Part, int] | None = None
    joined: float = 0.0
    _began: dict[Kind, float] = field(default_factory=dict)

    def begin(self, kind: Kind, now: float) -> None:
        """Begin an activity, unless it is under way already."""
        self._began.setdefault(kind, now)

    def end(self, kind: Kind, now: float) -> float:
        """End an activity. Returns its duration."""
        began = self._began.pop(kind, None)
        if began is None:
            return 0.0
        if self.spans is not None and now > began:
            self.spans.append(Span(kind, began, now))
        if kind is Kind.WAIT:
            self.waited += now - began
            self.longest_wait = max(self.longest_wait, now - began)
        return now - began

    def end_all(self, now: float) -> None:
        """The program, or the simulation, has ended."""
        for kind in list(self._began):
            self.end(kind, now)

    def duration(self, now: float) -> float:
        """Seconds from arrival to end, or until now."""
        return (now if self.ended is None else self.ended) - self.arrival

    @property
    def iterations_per_s(self) -> float:
        """The speed of the loop, with all the waiting in it."""
        seconds = self.loop_ended - (self.loop_began or 0.0)
        return self.iterations / seconds if seconds > 0 else 0.0
