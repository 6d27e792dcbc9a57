"""The settings of a GPU as its clients get them, which depends on their number. Sends nothing."""

from nvshare.daemon.executor import microseconds
from nvshare.settings import DeviceSettings
from nvshare.wire import frames

# How many times as much work a client may have in flight when it is alone.
INFLIGHT_ALONE = 50
# The default interval between a client's reports, in milliseconds (native/interposer/session); and
# how many reports all clients of a GPU may send per second. A report costs some 70 µs.
_USUAL_PAUSE = 250
_MOST_REPORTS = 512


def client_settings(settings: DeviceSettings, clients: int) -> frames.Settings:
    """Return the part of the settings that clients of a GPU read.

    No client waits for the turn of a client that is alone, and a newcomer takes longer to start
    than the work in flight takes to end. So its bound may be looser. With many clients, each
    reports less often.
    """
    flags = frames.SettingFlags.PROVIDES_HOST | frames.SettingFlags.ANSWERS
    if settings.oversubscribe:
        flags |= frames.SettingFlags.OVERSUBSCRIBE
    inflight = settings.lab.inflight * (INFLIGHT_ALONE if clients == 1 else 1)
    grace = microseconds(settings.lab.idle_grace)
    return frames.Settings(microseconds(inflight), grace, flags, usage_ms(clients))


def usage_ms(clients: int) -> int:
    """Return the interval between reports of each of so many clients; 0: the default.

    It changes in few steps. Otherwise every newcomer would change the settings of all.
    """
    pause = _USUAL_PAUSE
    while clients * 1000 > _MOST_REPORTS * pause:
        pause *= 2
    return 0 if pause == _USUAL_PAUSE else pause
