"""Programs of a trial come first on this machine, where the user may say so.

An emulated kernel of two milliseconds is followed by another because a program wakes up in time to
launch it. On a machine with other things to do it wakes late, and at speed 20 a late millisecond is
twenty: the GPU seems slow. They sleep most of the time, so nobody else is kept waiting for long.
"""

import contextlib
import os
from collections.abc import Iterator

# Nobody comes first.
ORDINARY = 0
LEAST = 1


@contextlib.contextmanager
def ahead_of_others(rank: int = LEAST) -> Iterator[bool]:
    """Start processes that come first. Tells whether they do; otherwise all is as it was.

    Those of a higher rank go ahead of those of a lower one, in this trial or in another.
    """
    if rank == ORDINARY:
        yield False
        return
    policy, priority = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(rank))
    except PermissionError:
        yield False
        return
    try:
        yield True
    finally:
        os.sched_setscheduler(0, policy, priority)
