"""Which way of moving memory is faster on a GPU, managed or explicit, by its readings."""

from nvshare.probe.readings import MissingError, Readings

# The better way must be better by this much to justify a change of the default.
_MARGIN = 0.1


def recommend(readings: Readings) -> str:
    """Return a recommendation for the user; empty if there is none.

    At a change of turn one program leaves while the next one comes, so both directions count.
    """
    if readings.values.get("machine.virtual_memory_management") == 0:
        return "The GPU cannot map memory: the setting allocation=managed, the default, is right."
    try:
        prefetched = readings.number("prefetch.both.gb_per_s")
        copied = readings.number("mapped.both.gb_per_s")
    except MissingError:
        return ""
    speeds = (
        f"Memory moves out and in at {prefetched:.1f} GB/s by prefetches (managed) and at "
        f"{copied:.1f} GB/s by copies (explicit)"
    )
    if copied > prefetched * (1 + _MARGIN):
        return f"{speeds}: try `nvshare set allocation=auto` on this GPU (docs/explicit.md)."
    return f"{speeds}: the setting allocation=managed, the default, is right for this GPU."
