"""What the clients of a GPU are told of its settings, by how many they are. Sends nothing."""

from nvshare.daemon.executor import microseconds
from nvshare.settings import DeviceSettings
from nvshare.wire import frames

# How much more work than others one may have in flight who is alone.
INFLIGHT_ALONE = 50
# How often a client reports that is told nothing, in milliseconds (native/interposer/session); and
# how often all clients of a GPU may report together, in a second. A report costs some 70 µs.
_USUAL_PAUSE = 250
_MOST_REPORTS = 512


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

    It changes in few steps, or all would be told whenever one comes.
    """
    pause = _USUAL_PAUSE
    while clients * 1000 > _MOST_REPORTS * pause:
        pause *= 2
    return 0 if pause == _USUAL_PAUSE else pause
