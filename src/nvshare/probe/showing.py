"""Readings as text for people. Each function returns one that shows the reading of a given name."""

from nvshare.probe.readings import Readings
from nvshare.probe.verdict import Show

_MIB = 1 << 20
_GIB = 1 << 30


def plain(name: str) -> Show:
    """Return the value as it is."""
    return lambda readings: str(readings.get(name))


def number(name: str, unit: str = "", digits: int = 3) -> Show:
    """Return a number with its unit."""
    return lambda readings: f"{readings.number(name):.{digits}g} {unit}".rstrip()


def seconds(name: str) -> Show:
    """Return a time in a unit that fits it."""
    return lambda readings: duration(readings.number(name))


def duration(time: float) -> str:
    """Format a time, in a unit that fits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if time >= size:
            return f"{time / size:.3g} {unit}"
    return f"{time * 1e6:.3g} us"


def whole(name: str, unit: str = "") -> Show:
    """Return a whole number with its unit."""
    return lambda readings: f"{readings.number(name):,.0f} {unit}".rstrip()


def yes_no(name: str) -> Show:
    """Return "yes" or "no"."""
    return lambda readings: "yes" if readings.get(name) else "no"


def gib(name: str) -> Show:
    """Return an amount of memory."""
    return lambda readings: f"{readings.number(name) / _GIB:.2f} GiB"


def mib(name: str) -> Show:
    """Return a smaller amount of memory."""
    return lambda readings: f"{readings.number(name) / _MIB:,.0f} MiB"


def change(reading: str, first: str, then: str) -> Show:
    """Return how a counter of memory changes from one step to another."""
    return lambda readings: f"{changed(readings, reading, first, then) / _MIB:+,.0f} MiB"


def changed(readings: Readings, reading: str, first: str, then: str) -> float:
    """Return the bytes by which a counter has grown in a later step."""
    later = readings.number(f"memory.{then}.{reading}")
    return later - readings.number(f"memory.{first}.{reading}")


def piece(readings: Readings) -> float:
    """Return the size of the memory that was moved."""
    return readings.number("memory.piece_bytes")
