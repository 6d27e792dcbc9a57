"""Turns entries of the time log into items of a trace. Keeps the present, nothing of the past.

Shared by daemon and simulator, which describe the clients and take the items.
"""

from collections.abc import Callable

from nvshare.core.core import Core
from nvshare.core.events import Moved
from nvshare.core.lease import State
from nvshare.core.view import Glance, Holding
from nvshare.telemetry.time.client_time import Part, nanoseconds
from nvshare.telemetry.time.time_log import TimeLog
from nvshare.telemetry.trace.items import Item, Level, Move, Program, Spent, Turn

_HOLDS = (State.RUNNING, State.YIELDING)


class Recorder:
    """One recording, from ``begin`` to ``end``."""

    def __init__(
        self,
        core: Core,
        times: TimeLog,
        describe: Callable[[int], Program | None],
        take: Callable[[Item], None],
    ) -> None:
        self._core = core
        self._times = times
        self._describe = describe
        self._take = take
        # By client, the number of its present turn, and the time from which it is not sent yet.
        self._turns: dict[int, tuple[int, int]] = {}
        self._holdings: dict[int, Holding] = {}
        # By device: resident memory, and memory that is away.
        self._levels: dict[str, tuple[int, int]] = {}

    def begin(self, now: float) -> None:
        """Start recording."""
        self._times.record(now, self)

    def tell_until(self, now: float) -> None:
        """Give all items until now: what is still going on is cut here."""
        self._times.tell_until(now)
        now_ns = nanoseconds(now)
        for client, (number, begin) in self._turns.items():
            self._tell_turn(client, number, begin, now_ns)
            self._turns[client] = number, now_ns

    def end(self, now: float) -> None:
        """Stop recording."""
        self.tell_until(now)
        self._times.record(now, None)

    def levels(self, now: float) -> list[Level]:
        """Return the memory levels of every GPU that has had programs."""
        return [Level(device, nanoseconds(now), *both) for device, both in self._levels.items()]

    def came(self, client: int, now_ns: int) -> None:
        """Describe a new client."""
        del now_ns
        program = self._describe(client)
        if program is not None:
            self._take(program)

    def went(self, client: int, now_ns: int) -> None:
        """End the turn and the memory of a client that leaves."""
        self._hold(client, now_ns, None)
        self._note_memory(client, now_ns, None)

    def spent(self, client: int, part: Part, begin_ns: int, end_ns: int) -> None:
        """Pass on a piece of time."""
        self._take(Spent(client, part.value, begin_ns, end_ns))

    def looked(self, client: int, now_ns: int, glance: Glance) -> None:
        """Note a change of a client's turn, and where its memory is."""
        self._hold(client, now_ns, glance.turn if glance.state in _HOLDS else None)
        self._note_memory(client, now_ns, self._core.holding(client))

    def moved(self, client: int, now_ns: int, event: Moved) -> None:
        """Pass on a move of memory. The client has measured how long it took."""
        if event.in_bytes or event.out_bytes:
            begin = now_ns - nanoseconds(event.seconds)
            self._take(Move(client, event.in_bytes, event.out_bytes, begin, now_ns))

    def _hold(self, client: int, now_ns: int, number: int | None) -> None:
        present = self._turns.get(client)
        if present is not None and present[0] != number:
            self._tell_turn(client, *present, now_ns)
            del self._turns[client]
        if number is not None and client not in self._turns:
            self._turns[client] = number, now_ns

    def _tell_turn(self, client: int, number: int, begin: int, now_ns: int) -> None:
        if now_ns > begin:
            self._take(Turn(client, number, begin, now_ns))

    def _note_memory(self, client: int, now_ns: int, holding: Holding | None) -> None:
        before = self._holdings.pop(client, None)
        if holding is not None:
            self._holdings[client] = holding
        if holding == before:
            return
        for one, sign in ((before, -1), (holding, 1)):
            if one is not None:
                on_gpu, away = self._levels.get(one.device, (0, 0))
                both = on_gpu + sign * one.on_device, away + sign * one.away
                self._levels[one.device] = both
        device = (holding or before or Holding("", 0, 0, 0)).device
        self._take(Level(device, now_ns, *self._levels[device]))
