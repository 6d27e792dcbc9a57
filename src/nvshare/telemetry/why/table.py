"""All causes. Of two that weigh the same, the first is the main one."""

from collections.abc import Callable

from nvshare.telemetry.why.case import Case
from nvshare.telemetry.why.causes import (
    cpu_bound,
    fine,
    held_back,
    host_memory,
    idle,
    lost,
    moving,
    outside,
    parked,
    scaled,
    thrashing,
    together,
    waiting,
)
from nvshare.telemetry.why.finding import Finding

CAUSES: tuple[Callable[[Case], Finding | None], ...] = (
    lost.find,
    parked.find,
    thrashing.find,
    host_memory.find,
    outside.find,
    scaled.find,
    held_back.find,
    moving.find,
    waiting.find,
    together.find,
    cpu_bound.find,
    idle.find,
    fine.find,
)
