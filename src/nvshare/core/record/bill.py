"""Which part of the time that a client measures is its own (shares/attribution.py)."""

from dataclasses import dataclass

# The weight of earlier measurements beside a new one.
_KEPT = 0.8
# Less measured time than this is too little for a comparison.
_LEAST_SECONDS = 0.1


@dataclass(slots=True)
class Bill:
    """What a device and a client say of the same time."""

    # Seconds that the device lately worked for it, seconds that it measured itself meanwhile, and
    # its busy seconds when these were compared.
    given_seconds: float = 0.0
    measured_seconds: float = 0.0
    given_busy: float = 0.0
    # The part of its measured time that is its own while others run beside it, and now.
    own_beside: float = 1.0
    own: float = 1.0

    def compare(self, given: float | None, busy: float) -> bool:
        """Compare what the device says with the client's busy seconds. False: it says nothing."""
        measured, self.given_busy = busy - self.given_busy, busy
        if given is None:
            return False
        self.given_seconds = _KEPT * self.given_seconds + given
        self.measured_seconds = _KEPT * self.measured_seconds + measured
        if self.measured_seconds < _LEAST_SECONDS:
            return False
        self.own_beside = min(1.0, self.given_seconds / self.measured_seconds)
        return True

    def note_own(self, part: float) -> None:
        """Note which part is its own now."""
        self.own = part
