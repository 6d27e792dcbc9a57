"""Settings at a speed: the daemon lives in real seconds, and the GPUs in emulated ones.

A turn of 30 emulated seconds is one of 1.5 real ones at speed 20. Patience with programs that do
not answer is not scaled: it is about machines that are slow, and those are real.
"""

from typing import Any

from nvshare.settings import DeviceSettings

DURATIONS = (
    *("turn_seconds", "turn_min", "turn_max", "batch_turn", "slice_seconds", "share_slice_seconds"),
    *("idle_grace", "idle_park", "inflight"),
)
RATES = ("initial_bandwidth",)
AS_THEY_ARE = (
    *("mode", "policy", "turn_multiplier", "steady_multiplier", "revoke_patience"),
    *("move_budget", "high_move_budget", "count_copies", "priority_floor"),
    *("move_patience", "make_room", "wait_notice"),
    *("reserve", "context", "allocation", "oversubscribe", "swap_excess", "gangs"),
)


def paced(settings: DeviceSettings, speed: float) -> DeviceSettings:
    """Return settings that count emulated seconds as ones that count real seconds."""
    return settings if speed == 1 else settings.changed(at_speed(settings, speed))


def at_speed(settings: DeviceSettings, speed: float) -> dict[str, Any]:
    """Return the settings as the daemon is to be told them."""
    told = settings.model_dump()
    for name in DURATIONS:
        if told[name] != "auto":
            told[name] /= speed
    for name in RATES:
        told[name] *= speed
    return told
