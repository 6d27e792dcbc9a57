"""A client as one of a gang (gangs/), and how far it is when its gang holds."""

from dataclasses import dataclass
from enum import Enum


class HoldStage(Enum):
    """How far a gang's client is that was told to hold (gangs/give_way.py)."""

    TOLD = "told"
    """Its gate is closed. As far as is known, it still has work in flight."""

    HELD = "held"
    """Its gate is closed, and it has no work in flight."""

    STEPS = "steps"
    """It had no work in flight, and was then told to let one call pass."""


@dataclass(slots=True)
class InGang:
    """The place of a client in its gang, if it is in one."""

    # The number of the gang; and whether another member on this device counts for both where
    # clients are counted.
    number: int | None = None
    rides: bool = False
    # It gave its turn up because it was idle, and its gang has not: its place is kept.
    rests: bool = False
    # Its gang waits, and another member could not run now even if all others gave way.
    stalled: bool = False

    def enter(self, number: int | None, *, rides: bool) -> None:
        """Note the gang that the client is in. None: it is in none."""
        self.number, self.rides = number, rides

    def rest(self) -> None:
        """Note that its place is kept."""
        self.rests = True

    def end_rest(self) -> None:
        """Note that it goes on, or that its turn is over."""
        self.rests = False

    def note_stalled(self, *, stalled: bool) -> None:
        """Note whether it waits for another member."""
        self.stalled = stalled


@dataclass(slots=True)
class Hold:
    """How far a client is that was told to hold, and since when."""

    stage: HoldStage | None = None
    since: float = 0.0
    # Whether a thread waits at its gate; after which time it is told to step, and when it was last.
    waits: bool = False
    step_patience: float = 0.0
    stepped_at: float = 0.0
    # When others were told to make room for a step, if they were; and whether clients of its gang
    # wait for turns, so that it may wait for them.
    room_asked_at: float | None = None
    awaits_ranks: bool = False

    def begin(self, now: float, stage: HoldStage, *, waits: bool) -> None:
        """Note that the client was told to hold."""
        self.stage, self.since, self.waits = stage, now, waits
        self.stepped_at, self.room_asked_at, self.awaits_ranks = 0.0, None, False

    def drain(self, now: float, *, waits: bool) -> None:
        """Note that it has no work in flight."""
        self.stage, self.since, self.waits = HoldStage.HELD, now, waits

    def go_back(self, now: float) -> None:
        """Note that its gate was open for a moment: it may have work in flight again."""
        self.stage, self.since = HoldStage.TOLD, now

    def step(self, now: float) -> None:
        """Note that it was told to let a call pass."""
        self.stage, self.since, self.stepped_at = HoldStage.STEPS, now, now

    def end(self) -> None:
        """Note that it was told something else."""
        self.stage, self.waits = None, False

    def note_want(self) -> None:
        """Note that a thread has come to its gate."""
        self.waits = self.stage is not None

    def be_patient(self, seconds: float) -> None:
        """Note after which time it is told to step. 0: it was not decided."""
        self.step_patience = seconds

    def ask_room(self, now: float) -> None:
        """Note that others were told to make room for a step."""
        self.room_asked_at = now

    def note_ranks(self, *, waiting: bool) -> None:
        """Note whether clients of its gang wait for turns."""
        self.awaits_ranks = waiting
