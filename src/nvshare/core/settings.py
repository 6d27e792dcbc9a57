"""What an operator can choose: per device (Settings) and per client (Limits).

Reading them from files, flags or annotations happens elsewhere; here they are values. Limits are
in a file of their own because that is generated.
"""

from dataclasses import dataclass
from enum import Enum

from nvshare.core.limits import NO_LIMITS as NO_LIMITS
from nvshare.core.limits import Limits as Limits
from nvshare.core.limits import Priority as Priority


class Mode(Enum):
    """How the clients of a device share it."""

    AUTO = "auto"
    """All together while everything fits in memory; otherwise in turns, in groups that fit."""

    SERIAL = "serial"
    """One at a time."""

    CONCURRENT = "concurrent"
    """All at once, even if their memory does not fit."""

    OFF = "off"
    """No scheduling. For the core it is the same as CONCURRENT; interposers account only."""


class Way(Enum):
    """How room is made at a change of turn (record/ways.py)."""

    MOVE_OUT = "move-out"
    DISPLACE = "displace"


class Interactive(Enum):
    """How promptly clients that compute in bursts are served, at the cost of the others."""

    PROMPT = "prompt"
    BALANCED = "balanced"
    THROUGHPUT = "throughput"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one device. All of them can change while clients run."""

    mode: Mode = Mode.AUTO
    policy: str = "fair"
    # None: as long as moving memory makes it worth while, between turn_min and turn_max.
    turn_seconds: float | None = None
    turn_min: float = 30.0
    turn_max: float = 300.0
    # The longest turn with the policy "batch".
    batch_turn: float = 3600.0
    # How promptly clients that compute in bursts interrupt others (precedence/interrupt.py).
    interactive: Interactive = Interactive.BALANCED
    # The length of turns among programs that fit together and compute all the time; 0: none.
    slice_seconds: float = 1.0
    # The same where a client has a share of compute: too short for users to notice.
    share_slice_seconds: float = 0.05
    # How long a program that was asked to give way may have nothing to do before it does.
    idle_grace: float = 0.05
    # How long a program may be idle before all of its memory leaves the device, even if no program
    # needs its place. None: forever.
    idle_park: float | None = None
    # How long a program that was told to give way now may take before others go on without it.
    revoke_patience: float = 30.0
    # Whether a group's memory beyond its limit is moved to the host (moves/over_limit.py).
    swap_excess: bool = False
    # Whether programs that use several devices have their turns on all of them together (gangs/).
    gangs: bool = True
    # Bytes per second, until the first move has been measured. It is measured soon, and nothing is
    # delayed for a move whose cost is unknown.
    initial_bandwidth: float = 1e15

    def __post_init__(self) -> None:
        """Refuse values that cannot work, naming the field."""
        for name in (
            "turn_min",
            "turn_max",
            "batch_turn",
            "share_slice_seconds",
            "initial_bandwidth",
        ):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be more than 0")
        if self.turn_seconds is not None and self.turn_seconds <= 0:
            raise ValueError("turn_seconds must be more than 0")
        if self.idle_park is not None and self.idle_park <= 0:
            raise ValueError("idle_park must be more than 0")
        if self.turn_max < self.turn_min:
            raise ValueError("turn_max must not be less than turn_min")
        for name in ("slice_seconds", "idle_grace", "revoke_patience"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative")

    @property
    def longest_turn(self) -> float:
        """The most that a turn can last while others wait, except with the policy "batch"."""
        return max(
            self.turn_max, self.turn_seconds or 0.0, self.slice_seconds, self.share_slice_seconds
        )


DEFAULTS = Settings()
