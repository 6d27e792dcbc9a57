"""A program under way: performs its actions in order, as far as its gate and the GPU let it.

While all the memory it needs is on the GPU, all kernels that it has queued are one piece of work.
When the GPU pages, it goes through the resident memory to the missing part, and waits for that.
"""

from collections.abc import Iterator
from math import ceil
from typing import TYPE_CHECKING

from nvshare.core.effects import SetLimits
from nvshare.core.events import ClientJoined, MemoryChanged
from nvshare.core.settings import NO_LIMITS, Limits, Priority
from nvshare.lab.sim.board import Holding
from nvshare.lab.sim.gate import Gate
from nvshare.lab.sim.meeting import Meeting
from nvshare.lab.sim.meter import Meter
from nvshare.lab.sim.pool import Lane
from nvshare.lab.sim.processor import DUST
from nvshare.lab.sim.record import Burst, Kind
from nvshare.lab.sim.share import Share
from nvshare.lab.sim.workload import (
    MIB,
    Action,
    Compute,
    Connect,
    Copy,
    Meet,
    Request,
    Resize,
    Sleep,
)
from nvshare.wire.frames import UNASKED_BYTES

if TYPE_CHECKING:
    from nvshare.lab.sim.site import Site

# The resolution of paging: parts of a program's memory. Compared with the emulated GPU: 16 are too
# few for a large program beside a small one (a fifth of its time); 32 to 1,500 give the same.
PARTS = 64
# The core is not asked about smaller allocations; they are only reported.
LEAST_ASKED = UNASKED_BYTES
# The interposer lets at least one call run while the next is prepared.
LEAST_IN_FLIGHT = 2
# The part of the bound that it aims at; programs of low priority aim at a fraction of that.
IN_FLIGHT_AIM = 3 / 4
IN_FLIGHT_LOW = 2


# A kernel that spins does so for as long as it takes.
_UNTIL_ALL_HAVE_COME = 1e9


class SimulatedProgram:
    """One program on one GPU, or one rank of a program on several."""

    def __init__(
        self,
        site: "Site",
        key: int,
        actions: Iterator[Action],
        limits: Limits = NO_LIMITS,
        group: str = "",
        meeting: Meeting | None = None,
    ) -> None:
        self._site = site
        self._key = key
        self._actions = actions
        self._limits = limits
        self._group = group
        self._meeting = meeting
        self._share = Share()
        # The computed seconds that are billed; and the wait of a program that has used up its
        # share.
        self._billed = 0.0
        self._pause: object = None
        self._record = site.records[key]
        self._gate: Gate | None = None
        self._tickets = 0
        self._meter = Meter(site, key)
        self._work: Copy | Compute | Meet | None = None
        # Seconds of the present work: the rest when the present step began; its length; and the
        # rest that may be left when the gate closes.
        self._left = 0.0
        self._step = 0.0
        self._stop_at = 0.0
        # When the present work was wanted, and when the GPU began with it; and when the last
        # request came.
        self._wanted = 0.0
        self._began: float | None = None
        self._asked = 0.0
        self._is_asked = False

    @property
    def gate(self) -> Gate:
        """The gate that takes orders to the program, once the core knows it."""
        if self._gate is None:
            raise RuntimeError("the program has no gate yet")
        return self._gate

    @property
    def has_work(self) -> bool:
        """Whether there is work for the GPU, waiting or under way."""
        return self._work is not None

    @property
    def is_used_up(self) -> bool:
        """Whether the work waits for time of the program's share."""
        return self._pause is not None

    def proceed(self) -> None:
        """Go on until something takes time."""
        for action in self._actions:
            if self._takes_time(action):
                return
        self._end()

    def _takes_time(self, action: Action) -> bool:
        match action:
            case Sleep():
                self._site.after(action.seconds, self.proceed)
                return True
            case Connect():
                self._connect()
                return True
            case Request():
                return self._await_request(action.after)
            case Resize():
                self._record.phases.append(self._site.now)
                self._asked = self._site.now
                return self._resize(action.allocated)
            case Copy() | Meet():
                self._submit(action, 0.0)
                return True
            case Compute():
                if self._record.loop_began is None:
                    self._record.loop_began = self._site.now
                self._submit(action, action.kernels * action.seconds)
                return True

    def _await_request(self, after: float) -> bool:
        """Wait for the next request. False: it has already arrived."""
        self._asked += after
        self._is_asked = True
        seconds = self._asked - self._site.now
        if seconds <= 0:
            return False
        self._site.after(seconds, self.proceed)
        return True

    def _connect(self) -> None:
        site = self._site
        self._record.end(Kind.STARTUP, site.now)
        self._record.joined = site.now
        site.make_context(self._key)
        self._gate = Gate(site, self._key, self)
        memory = site.memory_of(self._key)
        site.send(
            ClientJoined(
                now=site.now,
                client=self._key,
                device=site.device,
                memory=memory,
                limits=self._limits,
                group=self._group,
                can_hold=bool(self._group),
            )
        )
        site.after(site.context_seconds, self.proceed)

    def _resize(self, allocated: int) -> bool:
        """Allocate or free. True: the core is asked first, and calls when it has answered."""
        site, holding = self._site, self._site.holding(self._key)
        before, asks = holding.allocated, allocated - holding.allocated > LEAST_ASKED
        if allocated == before:
            return False
        self._tickets += asks
        holding.wanted = allocated
        if not asks:
            self._allocate()
        ticket, memory = self._tickets if asks else 0, site.memory_of(self._key)
        site.send(MemoryChanged(now=site.now, client=self._key, memory=memory, ticket=ticket))
        if allocated < before:
            site.room_changed()
        return asks

    def _allocate(self) -> None:
        holding = self._site.holding(self._key)
        before = holding.allocated
        self._site.gpu.board.resize(self._key, holding.wanted)
        if self.gate.holds:
            self._site.open_bytes_changed(holding.allocated - before)

    def answered(self, missing: int) -> None:
        """It may allocate. ``missing``: others have to make room before the memory is used.

        The gate gets that with the answer, before all other messages about that room.
        """
        self._allocate()
        if missing:
            self.gate.grow(missing)
        self._site.after(self._site.latency, self.proceed)

    def _end(self) -> None:
        self._meter.count()
        if self._meeting is not None:
            self._meeting.leave()
        self.gate.close_for_good()
        self._site.gpu.board.part(self._key)
        self._site.ended(self._key)

    def _submit(self, work: Copy | Compute | Meet, seconds: float) -> None:
        self._work, self._left, self._stop_at = work, seconds, 0.0
        self._wanted = self._asked if self._is_asked else self._site.now
        self._began, self._is_asked = None, False
        self._launch()

    def _launch(self) -> None:
        """Pass the share, then the gate."""
        if isinstance(self._work, Compute) and self._may_take(self._work) == 0:
            self._pause_for_share()
        elif self.gate.may_pass():
            self.start()

    def start(self) -> None:
        """The gate is open: give the GPU the work, or the next part of it."""
        self._meter.begin()
        if isinstance(self._work, Copy):
            size = self._work.size
            self._site.gpu.transfer(Lane.IN, self._key, size, self._copied)
        elif isinstance(self._work, Meet):
            self._site.gpu.compute(self._key, _UNTIL_ALL_HAVE_COME, self._done)
            if self._meeting is not None:
                self._meeting.come(lambda: self._site.after(0.0, self._met))
        elif self._work is not None:
            self._go_on(self._work)

    def _met(self) -> None:
        self._site.gpu.processor.shorten(self._key, 0.0)

    def _copied(self) -> None:
        gpu = self._site.gpu
        if isinstance(self._work, Copy):
            gpu.board.make(self._key, self._work.size)
            holding = self._site.holding(self._key)
            holding.ahead = min(holding.resident, holding.ahead + self._work.size)
        self._done()

    def _done(self) -> None:
        self._note_burst(self._site.now)
        self._work = None
        self._meter.end()
        if self.gate.draining:
            self.gate.drained()
        else:
            self.gate.rest()
        self.proceed()

    def _note_burst(self, ended: float | None) -> None:
        if isinstance(self._work, Compute) and self._record.bursts is not None:
            self._record.bursts.append(Burst(self._wanted, self._began, ended))

    def _go_on(self, work: Compute) -> None:
        """Take the next step through the program's memory."""
        if self._left - self._stop_at <= DUST:
            self._stop(work)
            return
        gpu, holding = self._site.gpu, self._site.holding(self._key)
        touches = work.touch > 0
        if touches and holding.gap and not (gpu.pages and holding.ahead):
            self._note_launched(holding)
            part = max(holding.allocated // PARTS, MIB)
            size = min(holding.gap, part) if gpu.pages else holding.gap
            gpu.fault(self._key, size, lambda: self._came(size))
            return
        self._step = self._left - self._stop_at
        if touches and gpu.pages:
            self._step = min(self._step, self._sweep(work))
        if (most := self._may_take(work)) is not None:
            self._step = min(self._step, most)
        if not self._step:
            self._pause_for_share()
            return
        if self._began is None:
            self._began = self._site.now
        gpu.compute(self._key, self._step, self._computed)

    def _note_launched(self, holding: Holding) -> None:
        """Report memory that is used for the first time to the core: it counts as resident."""
        if holding.launched < holding.allocated:
            holding.launched = holding.allocated
            memory = self._site.memory_of(self._key)
            self._site.send(MemoryChanged(now=self._site.now, client=self._key, memory=memory))

    def _may_take(self, work: Compute) -> float | None:
        return self._share.seconds(work.seconds, self._site.now)

    def limits_changed(self, order: SetLimits) -> None:
        """The core has changed the limits of the program."""
        self._bill()
        self._share.change(order, self._site.now)
        self._share_changed()

    def is_wanted(self, is_wanted: bool) -> None:
        """Note whether another program wants the GPU."""
        self._bill()
        was_kept, self._share.is_wanted = self._share.is_kept, is_wanted
        if self._share.is_kept != was_kept:
            self._share_changed()

    def _bill(self) -> None:
        computed = self.computed_now()
        self._share.bill(computed - self._billed, self._site.now)
        self._billed = computed

    def _share_changed(self) -> None:
        """The work under way was sized for another share: it ends with the present kernel."""
        if self.is_used_up:
            self._wait_for_share()
        elif isinstance(self._work, Compute) and self._share.is_kept:
            kernel = self._work.seconds
            over = self._left_now() % kernel
            self._shorten(over if over > DUST else kernel)

    def _pause_for_share(self) -> None:
        self._stop_at = 0.0
        self._meter.hold_back()
        self._wait_for_share()
        self.gate.used_up()

    def _wait_for_share(self) -> None:
        """Go on when there is time again, or when there is no share to wait for."""
        pause = self._pause = object()
        seconds = self._share.next() - self._site.now if self._share.is_kept else 0.0
        self._site.after(max(0.0, seconds), lambda: self._has_waited(pause))

    def _has_waited(self, pause: object) -> None:
        if self._pause is pause:
            self._pause = None
            self._meter.let_go()
            self._launch()

    def _sweep(self, work: Compute) -> float:
        """Return the seconds until the program reaches the end of its memory on the GPU."""
        holding = self._site.holding(self._key)
        if not holding.gap:
            holding.ahead = holding.resident
        return holding.ahead * work.seconds / work.touch

    def _came(self, size: int) -> None:
        holding = self._site.holding(self._key)
        holding.ahead = min(holding.resident, holding.ahead + size)
        if isinstance(self._work, Compute):
            self._go_on(self._work)

    def _computed(self) -> None:
        if isinstance(self._work, Compute):
            self._take_off(self._work, self._step)
            self._bill()
            self._go_on(self._work)

    def _take_off(self, work: Compute, seconds: float) -> None:
        self._left -= seconds
        self._record.computed += seconds
        self._record.iterations += seconds / (work.seconds * work.iteration)
        self._record.loop_ended = self._site.now
        holding = self._site.holding(self._key)
        passed = ceil(seconds * work.touch / work.seconds)
        holding.ahead = max(0, holding.ahead - passed)

    def _stop(self, work: Compute) -> None:
        self._stop_at = 0.0
        if self._left > work.seconds / 2:
            self._meter.pause()
            self.gate.drained()
        else:
            self._done()

    @property
    def _in_flight_seconds(self) -> float:
        """The aim of the interposer: a little below the bound."""
        aim = self._site.inflight * IN_FLIGHT_AIM
        return aim / IN_FLIGHT_LOW if self._limits.priority is Priority.LOW else aim

    def drain(self) -> None:
        """The gate is closing: only the work in flight is still done."""
        if isinstance(self._work, Compute):
            window = max(LEAST_IN_FLIGHT, int(self._in_flight_seconds / self._work.seconds))
            kernels = ceil(self._left_now() / self._work.seconds - 1e-6) - window
            self._stop_at = max(0, kernels) * self._work.seconds
            self._shorten(self._left_now() - self._stop_at)
        elif self._work is None:
            self.gate.drained()

    def follow_paging(self) -> None:
        """The GPU has begun to page: the work is no longer one piece."""
        if isinstance(self._work, Compute) and self._work.touch:
            self._shorten(self._sweep(self._work))

    def note_progress(self) -> None:
        """The simulation ends here: count the finished part of the present step."""
        self._meter.count()
        if isinstance(self._work, Compute):
            self._take_off(self._work, self._left - self._left_now())
            self._note_burst(None)

    def tell_work(self) -> None:
        """Another program begins to wait for the GPU: report work, if there may be any."""
        if self._gate is not None and self._gate.holds:
            self._meter.tell_work()

    def computed_now(self) -> float:
        """Seconds of kernels done, including the finished part of the present step."""
        under_way = isinstance(self._work, Compute)
        return self._record.computed + (self._left - self._left_now() if under_way else 0.0)

    def _left_now(self) -> float:
        if not self._site.gpu.goes_on(Lane.COMPUTE, self._key):
            return self._left
        return self._left - (self._step - self._site.gpu.processor.left(self._key))

    def _shorten(self, seconds: float) -> None:
        gpu = self._site.gpu
        if gpu.goes_on(Lane.COMPUTE, self._key):
            left = gpu.processor.left(self._key)
            if seconds < left:
                gpu.processor.shorten(self._key, seconds)
                self._step -= left - seconds
