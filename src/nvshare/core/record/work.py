"""How much a client computes, by its reports of busy time. Decides nothing.

Busy time is measured against the time in which the client held a turn: while it waits for one it
cannot be busy, and that says nothing about it. A client that is held back by its share would
compute more if it could, and so counts as busy.
"""

from dataclasses import dataclass

# As a part of its turns. Below this, the time a client leaves unused exceeds what slices save.
BUSY = 0.9
# A busy client stays busy until it falls below this, so that the judgement does not flicker.
STILL_BUSY = 0.8


@dataclass(slots=True)
class Work:
    """What a client has reported of its work."""

    # It computes all the time, as far as is known; and it had work on the device between its last
    # two reports.
    busy: bool = False
    active: bool = False
    # When it last reported work, or was granted a turn; and its busy seconds in all so far.
    worked_at: float = 0.0
    reported_busy: float = 0.0
    # Seconds for which it held turns before the present one. Then the counters when it was last
    # judged: of these seconds, and of busy and throttled ones if it has reported any.
    held_before: float = 0.0
    judged_held: float = 0.0
    judged_busy: float | None = None
    judged_throttled: float = 0.0

    def note_work(self, now: float) -> None:
        """Note that the client has work, or may have from now on."""
        self.worked_at = now

    def note_turn_end(self, seconds: float) -> None:
        """Add a turn of so many seconds."""
        self.held_before += seconds

    def note_busy(self, *, busy: bool) -> None:
        """Note whether it computes all the time."""
        self.busy = busy

    def note_active(self, *, active: bool) -> None:
        """Note whether it has work on the device."""
        self.active = active

    def is_busy(self, held: float, busy: float, throttled: float, window: float) -> bool:
        """Note a client's counters, and return whether it is busy by them.

        It is judged again when it has held turns for a window since the last time.
        """
        waited = throttled - self.judged_throttled
        span, before = held - self.judged_held, self.judged_busy
        if before is not None and span < window:
            return self.busy or waited > 0
        self.judged_held, self.judged_busy, self.judged_throttled = held, busy, throttled
        if before is None:
            return False
        enough = span * (STILL_BUSY if self.busy else BUSY)
        return waited > 0 or busy - before >= enough

    def is_active(self, busy: float) -> bool:
        """Note its busy seconds, and return whether they have grown since the last report."""
        before, self.reported_busy = self.reported_busy, busy
        return busy > before
