"""One GPU in virtual time: compute engine, both directions of the bus, page faults, memory.

It advances from event to event and returns the time of the next one. It knows neither turns nor the
core. The caller that starts work here is called when the work is done.
"""

from collections.abc import Callable
from typing import TypeAlias

from nvshare.lab.emulator.profile import Profile
from nvshare.lab.sim.board import Board
from nvshare.lab.sim.pool import Lane, Pool
from nvshare.lab.sim.processor import Processor
from nvshare.lab.sim.workload import MIB

GIGA = 1e9
BLOCK = 2 * MIB
# The interposer sends memory out in chunks that take about this time
# (native/interposer/moves/lane.h).
CHUNK_SECONDS = 0.005

Call: TypeAlias = Callable[[], None]


class Gpu:
    """The engines and the memory of one GPU. A program has at most one operation per lane."""

    def __init__(self, profile: Profile) -> None:
        memory, engine, self._bus = profile.memory, profile.engine, profile.bus
        slice_seconds = engine.slice_us / 1e6
        self.board = Board(round(memory.usable_mib * MIB), round(memory.context_mib * MIB))
        self.processor = Processor(slice_seconds, slice_seconds * engine.sharing_loss)
        self._managed = profile.managed
        self._mapping = profile.managed.host_map_us / 1e6
        self._pools = {lane: Pool(lane) for lane in (Lane.IN, Lane.OUT)}
        self._active: list[Pool] = []
        self._calls: dict[tuple[Lane, int], Call] = {}
        # The lane and program that will be done next; None if only a time to look again is known.
        self._next: tuple[Lane, int] | None = None
        self.now = 0.0
        # Allocated bytes of all programs with open gates: the driver pages if they do not fit.
        self.open_bytes = 0
        # Moves between GPU and host that no program asked for: those under way, and in all.
        self.moves = 0
        self.move_seconds = 0.0
        self.moved_in = 0
        self.bulk_out = 0

    @property
    def moved_out(self) -> int:
        """Bytes that went to the host, in bulk or because the driver pushed them out."""
        return self.bulk_out + self.board.pushed_out

    @property
    def pages(self) -> bool:
        """Whether the programs that may run do not fit together."""
        return self.open_bytes > self.board.capacity

    def catch_up(self, now: float) -> None:
        """Let time pass until now."""
        seconds = now - self.now
        if seconds <= 0:
            return
        self.now = now
        self.processor.advance(seconds)
        for pool in self._active:
            pool.advance(seconds)
        if self.moves:
            self.move_seconds += seconds

    def next_time(self) -> float:
        """Return the time of the next completion, if nothing else happens before."""
        soonest, place = self.processor.next()
        self._next = None if place is None else (self._on_engine(place), place)
        for pool in self._active:
            seconds, key = pool.next()
            if seconds < soonest and key is not None:
                soonest, self._next = seconds, (pool.lane, key)
        return self.now + soonest

    def finish_next(self) -> None:
        """Complete the work that next_time() announced; its time has come."""
        if self._next is not None:
            lane, key = self._next
            call = self._calls[lane, key]
            self._drop(lane, key)
            call()

    def compute(self, key: int, seconds: float, then: Call) -> None:
        """Run a kernel, or several in a row."""
        self._engage(Lane.COMPUTE, key, seconds, 0.0, then)

    def transfer(self, lane: Lane, key: int, size: int, then: Call) -> None:
        """Move bytes over the bus."""
        self._start(lane, key, float(size), then)

    def fault(self, key: int, size: int, then: Call) -> None:
        """Bring a program's next bytes to the GPU by touching them.

        Bytes on the host come at the rate of page faults; bytes that do not exist yet are created.
        On a full GPU others have to leave first. A fault holds the compute engine: no other program
        computes until it is served.
        """
        holding = self.board.holdings[key]
        # A program that reaches the end of its existing memory creates more before it starts over.
        unborn = min(size, holding.unborn)
        from_host = size - unborn
        pushed = max(0, size - max(0, self.board.room))
        seconds = from_host / (self._managed.fault_gb_per_s * GIGA)
        seconds += unborn / (self._managed.populate_gb_per_s * GIGA)
        seconds += pushed / (self._managed.fault_evict_gb_per_s * GIGA)
        moves = bool(from_host or pushed)

        def arrive() -> None:
            self.moves -= moves
            self.board.make(key, unborn)
            self.moved_in += self.board.bring(key, from_host)
            then()

        self.moves += moves
        # The engine can switch contexts between two blocks.
        self._engage(Lane.FAULT, key, seconds, seconds * BLOCK / max(size, BLOCK), arrive)

    def goes_on(self, lane: Lane, key: int) -> bool:
        """Whether a program has an operation in a lane."""
        return (lane, key) in self._calls

    def extend(self, lane: Lane, key: int, size: int) -> None:
        """Make a transfer longer."""
        self._pools[lane].extend(key, float(size))

    def left(self, lane: Lane, key: int) -> float:
        """Return the rest of a transfer."""
        return self._pools[lane].left(key)

    def cancel(self, lane: Lane, key: int) -> float:
        """Stop an operation, and return the rest of it."""
        return self._drop(lane, key)

    def _engage(self, lane: Lane, key: int, seconds: float, piece: float, then: Call) -> None:
        self._calls[lane, key] = then
        self.processor.start(key, seconds, piece)

    def _on_engine(self, key: int) -> Lane:
        return Lane.FAULT if self.goes_on(Lane.FAULT, key) else Lane.COMPUTE

    def _start(self, lane: Lane, key: int, amount: float, then: Call) -> None:
        self._calls[lane, key] = then
        self._pools[lane].start(key, amount)
        self._set_rates()

    def _drop(self, lane: Lane, key: int) -> float:
        del self._calls[lane, key]
        if lane in (Lane.COMPUTE, Lane.FAULT):
            left = self.processor.left(key)
            self.processor.stop(key)
            return left
        left = self._pools[lane].stop(key)
        self._set_rates()
        return left

    def _out_rate(self, share: float) -> float:
        """Return how fast memory leaves, including the time to map it for the CPU.

        A block is mapped while the next ones are copied, except for the last of every chunk.
        """
        rate = self._bus.device_to_host_gb_per_s * GIGA * share
        block = max(BLOCK / rate, self._mapping)
        return BLOCK / block / (1 + self._mapping / CHUNK_SECONDS)

    def _set_rates(self) -> None:
        into, out = self._pools[Lane.IN], self._pools[Lane.OUT]
        share = self._bus.duplex / 2 if into and out else 1.0
        into.rate = self._bus.host_to_device_gb_per_s * GIGA * share / max(1, len(into))
        out.rate = self._out_rate(share) / max(1, len(out))
        self._active = [pool for pool in (into, out) if pool]
