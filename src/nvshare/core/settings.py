"""What an operator can choose: per device (Settings) and per client (Limits).

Reading them from files, flags or annotations happens elsewhere; here they are values. The fields
of settings, and limits, are in files of their own because those are generated.
"""

from dataclasses import dataclass
from enum import Enum

from nvshare.core.limits import NO_LIMITS as NO_LIMITS
from nvshare.core.limits import Limits as Limits
from nvshare.core.limits import Priority as Priority
from nvshare.core.setting_fields import Interactive as Interactive
from nvshare.core.setting_fields import Mode as Mode
from nvshare.core.setting_fields import SettingFields


class Way(Enum):
    """How room is made at a change of turn (record/ways.py)."""

    MOVE_OUT = "move-out"
    DISPLACE = "displace"


@dataclass(frozen=True, slots=True)
class Settings(SettingFields):
    """The settings of one device."""

    def __post_init__(self) -> None:
        """Refuse values that cannot work together, naming a field."""
        # Not by super(): a class with slots is another one than the one that is written here.
        SettingFields.__post_init__(self)
        if self.turn_max < self.turn_min:
            raise ValueError("turn_max must not be less than turn_min")

    @property
    def longest_turn(self) -> float:
        """The most that a turn can last while others wait, except with the policy "batch"."""
        return max(
            self.turn_max, self.turn_seconds or 0.0, self.slice_seconds, self.share_slice_seconds
        )


DEFAULTS = Settings()
