"""Moves a program's memory at a steady pace, in the world's time."""

from dataclasses import dataclass, replace

from nvshare.core.memory import Memory
from nvshare.machine import Job

PACE = 8


@dataclass
class Mover:
    """One order at a time. Leaving bytes count as swapped at once, coming bytes on arrival."""

    job: Job = Job.RESTS
    total: int = 0
    since: float = 0.0
    # Bytes that were moved and not reported yet.
    out_bytes: int = 0
    in_bytes: int = 0
    # The part of the present order that these numbers contain.
    counted: int = 0
    # The part of a fill that has no room yet. The fill waits until all of it has.
    missing: int = 0

    @property
    def done_at(self) -> float | None:
        """When the present order will be done, if there is one."""
        if self.job is Job.RESTS or self._waits:
            return None
        return self.since + self.total / PACE

    @property
    def _waits(self) -> bool:
        return self.job is Job.FILLS and self.missing > 0

    @property
    def left(self) -> int:
        """The bytes ordered out that had not left at the last look."""
        return self.total - self.counted if self.job is Job.MOVES_OUT else 0

    def set_missing(self, missing: int, now: float) -> None:
        """Learn how many bytes have no room."""
        if self._waits and not missing:
            self.since = now
        self.missing = missing

    @property
    def is_leaving(self) -> bool:
        return self.job is Job.MOVES_OUT

    def order(self, job: Job, size: int, memory: Memory, now: float) -> Memory:
        """Begin another job. Returns the memory as it is then."""
        memory = self._stop(memory, now)
        self.job, self.since, self.counted = job, now, 0
        if job is Job.MOVES_OUT:
            self.total = min(size, memory.resident)
            return replace(memory, swapped=memory.swapped + self.total)
        fills = job in (Job.FILLS, Job.FILLS_AHEAD, Job.FILLS_GENTLY, Job.RETURNS)
        self.total = min(size or memory.swapped, memory.swapped) if fills else 0
        return memory

    def more(self, size: int, memory: Memory) -> Memory:
        """Add to the bytes that are to leave."""
        size = min(size, memory.resident)
        self.total += size
        return replace(memory, swapped=memory.swapped + size)

    def keep(self, memory: Memory) -> None:
        """Limit the bytes that are to leave to the memory that exists."""
        if self.job is Job.MOVES_OUT:
            self.total = self.counted + min(self.left, memory.swapped)

    def look(self, memory: Memory, now: float) -> Memory:
        """Count what has moved by now."""
        if self._waits:
            return memory
        moved = min(self.total, int((now - self.since) * PACE + 1e-6)) - self.counted
        self.counted += moved
        if self.job is Job.MOVES_OUT:
            self.out_bytes += moved
        elif self.job is not Job.RESTS:
            # Memory that was freed meanwhile does not come.
            moved = min(moved, memory.swapped)
            self.in_bytes += moved
            return replace(memory, swapped=memory.swapped - moved)
        return memory

    def _stop(self, memory: Memory, now: float) -> Memory:
        memory = self.look(memory, now)
        if self.job is Job.MOVES_OUT:
            stays = min(memory.swapped, self.total - self.counted)
            memory = replace(memory, swapped=memory.swapped - stays)
        self.job = Job.RESTS
        return memory
