"""Numbers in words, for all views."""

_GIB = 1 << 30


def gib(size: int) -> str:
    """Return bytes as GiB, short."""
    return f"{size / _GIB:.1f}" if size < 100 * _GIB else f"{size / _GIB:.0f}"


def duration(seconds: float) -> str:
    """Return seconds in words: 3.2 s, 12 min, 5 h 3 min."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = int(seconds // 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def percent(part: float) -> str:
    """Return a part of a whole: 4 %, or 0.3 % where whole percents would be 0."""
    value = 100 * part
    return f"{value:.1f} %" if 0 < value < 1 else f"{value:.0f} %"
