"""The settings of one device, as the core has them.

Generated from protocol/settings.toml by ``python -m protocol.generate``: do not edit.
"""

from dataclasses import dataclass
from enum import Enum


class Mode(Enum):
    """How the programs of a GPU share it."""

    AUTO = "auto"  # all together while their memory fits, else in turns
    SERIAL = "serial"  # one at a time
    CONCURRENT = "concurrent"  # all at once, even if their memory does not fit
    OFF = "off"  # no scheduling; for the core the same as concurrent: interposers account only


class Interactive(Enum):
    """How promptly programs that compute in bursts are served."""

    PROMPT = "prompt"  # soon, for more moves of memory
    BALANCED = "balanced"  # as soon as moves pay
    THROUGHPUT = "throughput"  # later, for fewer moves


@dataclass(frozen=True, slots=True)
class SettingFields:
    """All of them can change while clients run. Durations are in seconds."""

    # How the programs of a GPU share it.
    mode: Mode = Mode.AUTO
    # In which order programs have their turns that compute all the time.
    policy: str = "fair"
    # The length of a turn while others wait.
    turn_seconds: float | None = None
    # How promptly programs that compute in bursts are served.
    interactive: Interactive = Interactive.BALANCED
    # After how many idle seconds all memory of a program leaves the GPU.
    idle_park: float | None = None
    # How long a program may take to give way before others go on without it.
    revoke_patience: float = 30.0
    # Whether programs that use several GPUs have their turns on all of them together.
    gangs: bool = True
    # Whether memory beyond a lowered limit is moved to the host.
    swap_excess: bool = False
    # The shortest turn of automatic length.
    turn_min: float = 30.0
    # The longest turn of automatic length.
    turn_max: float = 300.0
    # The longest turn with the policy batch.
    batch_turn: float = 3600.0
    # Turns of programs that fit together and compute all the time; 0: none.
    slice_seconds: float = 1.0
    # The same where a program has a share of compute.
    share_slice_seconds: float = 0.05
    # How long a program that is asked to give way rests before it does.
    idle_grace: float = 0.05
    # Until a move was measured; nothing is delayed for one of unknown cost.
    initial_bandwidth: float = 1e15

    def __post_init__(self) -> None:
        """Refuse values that cannot work, naming the field."""
        for name in (
            "turn_seconds",
            "idle_park",
            "turn_min",
            "turn_max",
            "batch_turn",
            "share_slice_seconds",
            "initial_bandwidth",
        ):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"{name} must be more than 0")
        for name in (
            "revoke_patience",
            "slice_seconds",
            "idle_grace",
        ):
            value = getattr(self, name)
            if value < 0:
                raise ValueError(f"{name} must not be negative")
