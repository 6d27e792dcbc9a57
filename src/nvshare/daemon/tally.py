"""What adds up over the life of a client. Nothing is decided from it; people look at it."""

from dataclasses import dataclass, field
from operator import sub
from typing import NamedTuple, get_args

from nvshare.core.effects import Verdict
from nvshare.telemetry.snapshot import Refused


class Report(NamedTuple):
    """What a client counts itself, since its process began to use the GPU."""

    busy_ns: int = 0
    launches: int = 0
    throttled_ns: int = 0
    gpu_ns: int = 0


NOTHING = Report()

# What adds up over clients.
COUNTED = (
    "clients",
    "turns",
    "running_ns",
    "waited_ns",
    "moved_out",
    "moved_in",
    "moving_ns",
    *Report._fields,
)
REFUSALS: tuple[Refused, ...] = get_args(Refused)
_BY_VERDICT: dict[Verdict, Refused] = {
    Verdict.HOST_FULL: "host full",
    Verdict.TOO_LARGE: "too large at once",
    Verdict.NOT_NOW: "context",
}


@dataclass(slots=True)
class Tally:
    """Counts and durations, in bytes and seconds."""

    turns: int = 0
    running: float = 0.0
    waited: float = 0.0
    longest_wait: float = 0.0
    moved_out: int = 0
    moved_in: int = 0
    moving: float = 0.0
    refusals: dict[Refused, int] = field(default_factory=dict)
    told: Report = NOTHING
    # What of that was before it came to us.
    before: Report | None = None

    running_since: float | None = None
    waiting_since: float | None = None

    def begin_wait(self, now: float) -> None:
        """There is work and no turn."""
        if self.waiting_since is None and self.running_since is None:
            self.waiting_since = now

    def begin_turn(self, now: float) -> None:
        """A turn was granted."""
        self.turns += 1
        if self.waiting_since is not None:
            wait = now - self.waiting_since
            self.waited += wait
            self.longest_wait = max(self.longest_wait, wait)
            self.waiting_since = None
        if self.running_since is None:
            self.running_since = now

    def end_turn(self, now: float) -> None:
        """The turn was given back."""
        if self.running_since is not None:
            self.running += now - self.running_since
            self.running_since = None

    def tell(self, report: Report, present_ns: int) -> None:
        """Take note of what the client has counted, at most so long after it came."""
        if self.before is None:
            # Who has worked for longer than it is here had another daemon, or none.
            came_back = report.busy_ns > present_ns
            self.before = report if came_back else NOTHING
        # They only grow, whatever a client says.
        self.told = Report(*map(max, self.told, report))

    def refuse(self, verdict: Verdict) -> None:
        """The daemon has refused the client something."""
        why = _BY_VERDICT[verdict]
        self.refusals[why] = self.refusals.get(why, 0) + 1

    def tell_refusals(self, over_limit: int, over_gpu: int) -> None:
        """Take note of what the client has refused its program by itself, all in all."""
        told: dict[Refused, int] = {"memory limit": over_limit, "size of the GPU": over_gpu}
        for why, count in told.items():
            # It only grows, whatever a client says.
            if count > self.refusals.get(why, 0):
                self.refusals[why] = count

    def numbers(self, now: float) -> tuple[int, ...]:
        """All that has been counted here but for refusals, in the order of COUNTED.

        In whole numbers: those of different clients add up to the same in any order, and so a sum
        of them never goes down, not even by the last bit of a float.
        """
        here = map(sub, self.told, self.before or NOTHING)
        return (
            1,
            self.turns,
            round(self.running_until(now) * 1e9),
            round(self.waited_until(now) * 1e9),
            self.moved_out,
            self.moved_in,
            round(self.moving * 1e9),
            *here,
        )

    def counts(self, now: float) -> dict[str, int]:
        """All that has been counted here, by its name."""
        numbers = dict(zip(COUNTED, self.numbers(now), strict=True))
        return {**numbers, **{str(why): count for why, count in self.refusals.items()}}

    def waited_until(self, now: float) -> float:
        """All the waiting, with that which goes on."""
        return self.waited + (now - self.waiting_since if self.waiting_since is not None else 0.0)

    def longest_wait_until(self, now: float) -> float:
        """The longest wait, which may be that which goes on."""
        present = now - self.waiting_since if self.waiting_since is not None else 0.0
        return max(self.longest_wait, present)

    def running_until(self, now: float) -> float:
        """All the time with a turn, with that which goes on."""
        return self.running + (now - self.running_since if self.running_since is not None else 0.0)
