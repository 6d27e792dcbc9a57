"""Whether kernels pass the gate of the interposer, however a program launches them."""

import time

from nvshare.probe.bench import Bench
from nvshare.probe.guests import Guests, own_daemon
from nvshare.probe.helper import Helper
from nvshare.probe.readings import Unavailable

_LAUNCHES = 2000
# Work in flight is not counted yet.
_NEARLY = 0.9
# A program reports its work to the daemon only now and then.
_PATIENCE_S = 5.0
_LOOK_S = 0.2


def probe(bench: Bench) -> None:
    """Launch under a daemon, and ask the daemon what it has counted."""
    readings = bench.readings
    readings.note("gate.launches", _LAUNCHES)
    with own_daemon() as guests, Helper(bench.ordinal, guests.environ) as helper:
        helper.ask("hello")
        helper.ask("launch", count=_LAUNCHES)
        seen = _seen(guests, helper.pid, 0)
        readings.note("gate.driver_seen", seen)
        try:
            library = helper.ask("launch_runtime", count=_LAUNCHES)["library"]
        except Unavailable as error:
            readings.miss("gate.runtime_seen", str(error))
            return
        readings.note("gate.runtime", library)
        readings.note("gate.runtime_seen", _seen(guests, helper.pid, seen) - seen)


def _seen(guests: Guests, pid: int, before: int) -> int:
    """Return how many launches the daemon has counted; wait until they are as many as expected."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        client = guests.client(pid)
        if not client:
            raise Unavailable(
                "the daemon does not know the helper process: that process did not connect to it"
            )
        launches = int(client["launches"])
        if launches >= before + _NEARLY * _LAUNCHES or time.monotonic() > until:
            return launches
        time.sleep(_LOOK_S)
