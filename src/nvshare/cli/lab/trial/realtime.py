"""Runs the programs of a trial with real-time priority, where the user has permission.

An emulated kernel of two milliseconds is followed by the next only if the program wakes up in time
to launch it. On a busy machine it wakes late, and at speed 20 a late millisecond is twenty: the GPU
seems slow. The programs sleep most of the time, so other processes do not wait for long.
"""

import contextlib
import os
from collections.abc import Iterator

# No real-time priority.
ORDINARY = 0
LEAST = 1


@contextlib.contextmanager
def ahead_of_others(rank: int = LEAST) -> Iterator[bool]:
    """Give processes that are started within real-time priority. Yield whether that is permitted.

    Processes of a higher rank preempt those of a lower one, in this trial or in another.
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
