"""A program that captures graphs while turns change: it must not be affected."""

from nvshare.probe.bench import Bench
from nvshare.probe.guests import own_daemon
from nvshare.probe.helper import Helper

_SECONDS = 12.0
_QUICK_SECONDS = 4.0


def probe(bench: Bench) -> None:
    """Let one program capture and one compute, under a daemon with turns of a second."""
    seconds = (_QUICK_SECONDS if bench.quick else _SECONDS) * bench.clock.speed
    with (
        own_daemon() as guests,
        Helper(bench.ordinal, guests.environ) as helper,
        Helper(bench.ordinal, guests.another()) as rival,
    ):
        # Both create their contexts before either begins.
        helper.tell("hello")
        rival.ask("hello")
        helper.answer()
        rival.tell("busy", seconds=seconds)
        found = helper.ask("capture", seconds=seconds)
        turns = int(guests.client(helper.pid).get("turns", 0))
    readings = bench.readings
    readings.note("capture.captures", found["captures"])
    readings.note("capture.failures", found["failures"])
    readings.note("capture.wrong_words", found["wrong"])
    readings.note("capture.turns", turns)
    if found["error"]:
        readings.note("capture.error", found["error"])
