"""What the clients of a GPU are told of its settings, by how many they are. Sends nothing."""

from nvshare.daemon.executor import microseconds
from nvshare.settings import DeviceSettings
from nvshare.wire import frames

# How much more work than others one may have in flight who is alone.
INFLIGHT_ALONE = 50
# Up to so many clients of a GPU, and how often each of them reports, in milliseconds. Who has not
# reported for a second counts as idle (core/client_time.py).
_USAGE_STEPS = ((250, 0), (500, 500))
_SLOWEST_USAGE = 900


def client_settings(settings: DeviceSettings, clients: int) -> frames.Settings:
    """The part of the settings that clients of a GPU look at.

    Nobody waits for the end of a turn of one who is alone, and others who come wait for longer than
    its work in flight takes: it need not be bounded as tightly. Of many, each reports less often.
    """
    flags = frames.SettingFlags.PROVIDES_HOST | frames.SettingFlags.ANSWERS
    if settings.oversubscribe:
        flags |= frames.SettingFlags.OVERSUBSCRIBE
    inflight = settings.inflight * (INFLIGHT_ALONE if clients == 1 else 1)
    grace = microseconds(settings.idle_grace)
    return frames.Settings(microseconds(inflight), grace, flags, usage_ms(clients))


def usage_ms(clients: int) -> int:
    """Return how often each of so many clients reports what it has used; 0: as often as usual.

    All of them together report some thousand times a second at most. It changes in few steps, or
    all would be told whenever one comes.
    """
    return next((step for most, step in _USAGE_STEPS if clients <= most), _SLOWEST_USAGE)
