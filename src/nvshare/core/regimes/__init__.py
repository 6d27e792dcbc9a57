"""How a device is shared at present: one file for each regime, and the choice between them.

A regime says what clients compete for, which of them fit together, and how long turns and rests
usually are. The scheduler gives turns by these answers, and does not ask which regime
it is. A new regime is a file, a name in ``RegimeName`` and a line here.
"""

from nvshare.core.record.device import RegimeName
from nvshare.core.regimes.busy import Busy
from nvshare.core.regimes.memory import ByMemory
from nvshare.core.regimes.one import OneAtATime
from nvshare.core.regimes.ranked import Ranked
from nvshare.core.regimes.regime import Place, Regime
from nvshare.core.regimes.together import Together
from nvshare.core.settings import Mode, Settings

__all__ = ["Place", "Regime", "choose_regime", "find_regime", "first_regime"]

_REGIMES: dict[RegimeName, Regime] = {
    one.name: one for one in (Together(), ByMemory(), OneAtATime(), Busy(), Ranked())
}
_BY_MODE = {
    Mode.AUTO: RegimeName.MEMORY,
    Mode.SERIAL: RegimeName.ONE,
    Mode.CONCURRENT: RegimeName.TOGETHER,
    Mode.OFF: RegimeName.TOGETHER,
}


def find_regime(name: RegimeName) -> Regime:
    """Return the regime of that name."""
    return _REGIMES[name]


def first_regime(mode: Mode) -> RegimeName:
    """Return the name of the regime of a device without clients."""
    return _BY_MODE[mode]


def choose_regime(settings: Settings, *, fits: bool, classes: int, busy: int) -> Regime:
    """Choose by the mode and, where memory suffices for all, by the present clients.

    These are so many classes of priority, and so many clients that compute all the time.
    """
    name = _BY_MODE[settings.mode]
    if settings.mode is Mode.AUTO and fits:
        if classes > 1:
            name = RegimeName.RANKED
        elif settings.slice_seconds > 0 and busy > 1:
            name = RegimeName.BUSY
    return _REGIMES[name]
