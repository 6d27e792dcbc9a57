"""Counters over the life of a client. For display only; no decision uses them."""

from dataclasses import dataclass, field
from operator import sub
from typing import NamedTuple, get_args

from nvshare.core.effects import Verdict
from nvshare.telemetry.snapshot import Refused


class Report(NamedTuple):
    """The client's own counters, since its process began to use the GPU."""

    busy_ns: int = 0
    launches: int = 0
    throttled_ns: int = 0
    gpu_ns: int = 0


NOTHING = Report()

# The counters that are summed over clients.
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
class Counters:
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
    # The part of it from before it joined this daemon.
    before: Report | None = None

    running_since: float | None = None
    waiting_since: float | None = None

    def begin_wait(self, now: float) -> None:
        """Note that there is work and no turn."""
        if self.waiting_since is None and self.running_since is None:
            self.waiting_since = now

    def begin_turn(self, now: float) -> None:
        """Note that a turn was granted."""
        self.turns += 1
        if self.waiting_since is not None:
            wait = now - self.waiting_since
            self.waited += wait
            self.longest_wait = max(self.longest_wait, wait)
            self.waiting_since = None
        if self.running_since is None:
            self.running_since = now

    def end_turn(self, now: float) -> None:
        """Note that the turn was given back."""
        if self.running_since is not None:
            self.running += now - self.running_since
            self.running_since = None

    def tell(self, report: Report, present_ns: int) -> None:
        """Note the client's counters, at most ``present_ns`` after it joined."""
        if self.before is None:
            # A client that has worked for longer than it is here had another daemon, or none.
            came_back = report.busy_ns > present_ns
            self.before = report if came_back else NOTHING
        # Counters only grow, whatever a client says.
        self.told = Report(*map(max, self.told, report))

    def refuse(self, verdict: Verdict) -> None:
        """Count a refusal by the daemon."""
        why = _BY_VERDICT[verdict]
        self.refusals[why] = self.refusals.get(why, 0) + 1

    def tell_refusals(self, over_limit: int, over_gpu: int) -> None:
        """Note the totals of what the client itself has refused its program."""
        told: dict[Refused, int] = {"memory limit": over_limit, "size of the GPU": over_gpu}
        for why, count in told.items():
            # Counters only grow, whatever a client says.
            if count > self.refusals.get(why, 0):
                self.refusals[why] = count

    def numbers(self, now: float) -> tuple[int, ...]:
        """All counters except refusals, in the order of COUNTED.

        Whole numbers add up to the same in any order. So a sum over clients never goes down, not
        even by the last bit of a float.
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
        """All counters, by name."""
        numbers = dict(zip(COUNTED, self.numbers(now), strict=True))
        return {**numbers, **{str(why): count for why, count in self.refusals.items()}}

    def waited_until(self, now: float) -> float:
        """The total time of waiting, including the present wait."""
        return self.waited + (now - self.waiting_since if self.waiting_since is not None else 0.0)

    def longest_wait_until(self, now: float) -> float:
        """The longest wait, which may be the present one."""
        present = now - self.waiting_since if self.waiting_since is not None else 0.0
        return max(self.longest_wait, present)

    def running_until(self, now: float) -> float:
        """The total time with a turn, including the present turn."""
        return self.running + (now - self.running_since if self.running_since is not None else 0.0)
