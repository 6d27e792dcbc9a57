"""Settings at a speed: the daemon uses real seconds, and the GPUs use emulated ones.

At speed 20, a turn of 30 emulated seconds takes 1.5 real ones. The patience with programs that do
not answer is not scaled: it allows for slow machines, and those are real.
"""

from typing import Any

from nvshare.settings import DeviceSettings

DURATIONS = (
    *("turn_seconds", "turn_min", "turn_max", "batch_turn", "slice_seconds", "share_slice_seconds"),
    *("idle_grace", "idle_park", "inflight"),
)
AS_THEY_ARE = (
    *("mode", "policy", "interactive", "revoke_patience", "wait_notice"),
    *("reserve", "context", "allocation", "oversubscribe", "swap_excess", "gangs"),
)


def paced(settings: DeviceSettings, speed: float) -> DeviceSettings:
    """Convert settings from emulated seconds to real seconds."""
    return settings if speed == 1 else settings.changed(at_speed(settings, speed))


def at_speed(settings: DeviceSettings, speed: float) -> dict[str, Any]:
    """Return the settings as the daemon is to be told them."""
    told = settings.model_dump()
    for name in DURATIONS:
        if told[name] != "auto":
            told[name] /= speed
    return told
