"""The host's memory: it takes memory that does not fit on a node's devices, up to a limit.

All devices share it. No client is told to move out more than it can hold (clients/host_room.py); a
client that would need that waits. So memory is refused only if it could never be used: the client
would be larger than the device and the host together; or no client could run any more; or the
memory is pinned, and would at once push out memory that has no place on the host. Without turns no
client waits, and a request is refused if memory would have to leave for it and cannot. A client
that does not ask has its memory already, and the excess is only reported. host/misfit.py refuses
memory that cannot be on the device at all, or not as a whole where that is needed.
"""

from collections.abc import Iterable

from nvshare.core.clients.host_room import HostRoom, gib
from nvshare.core.clients.roster import Roster
from nvshare.core.effects import Answer, Effect, Report, ReportKind, Verdict
from nvshare.core.events import HostRoomChanged, MemoryChanged
from nvshare.core.host.misfit import misfit
from nvshare.core.host.safe_order import may_hope
from nvshare.core.host.stuck import stuck_beside
from nvshare.core.memory import Memory
from nvshare.core.record.client import Client, Told
from nvshare.core.record.device import HostState, Pool


class Host:
    """Keeps the limits of the host's memory, and refuses what exceeds them."""

    def __init__(self, state: HostState) -> None:
        self.state = state
        self.room = HostRoom(state)

    def set_limit(self, limit: int | None) -> list[Effect]:
        """Set how much may leave for the host. None: no limit."""
        self.state.limit = limit
        return self.judge("", None)

    def set_pool(self, event: HostRoomChanged, members: Iterable[Client]) -> None:
        """Note how much can be charged to a cgroup now."""
        pool = None
        if event.room is not None and event.clients:
            pool = Pool(event.limit, event.room, dict.fromkeys(event.clients, 0), event.what)
        self.room.set_pool(event.pool, pool, members)

    def refuse(self, roster: Roster, client: Client, ask: MemoryChanged) -> list[Effect]:
        """Refuse a request for memory that could never be used; return nothing otherwise."""
        memory = ask.memory.as_kind(client.kind)
        refusal = misfit(roster, client, memory, for_context=ask.for_context)
        if refusal is None and (why := self._objection(roster, client, memory)) is not None:
            refusal = Verdict.HOST_FULL, f"{why}: {self.room.why(client)}"
        if refusal is None:
            client.forget_told(Told.REFUSED)
            return []
        verdict, why = refusal
        answer = Answer(client.id, ask.ticket, verdict)
        if not client.tell(Told.REFUSED):
            return [answer]
        what = "a context of " if ask.for_context else ""
        text = f"was refused {what}{gib(memory.allocated - client.memory.allocated)}: {why}"
        return [Report(ReportKind(verdict.value), roster.state.id, client.id, text), answer]

    def _objection(self, roster: Roster, client: Client, memory: Memory) -> str | None:
        more = memory.swappable - client.memory.swappable
        more_pinned = memory.pinned - client.memory.pinned
        if more <= 0 and more_pinned <= 0:
            return None
        if not roster.regime.takes_turns:
            return self._overflow(roster, client, memory)
        if more_pinned > 0 and stuck_beside(roster, ()) > max(0, roster.room - more_pinned):
            return "it would push out memory that cannot leave the GPU"
        if self._is_too_large(roster, client, memory):
            return f"{gib(memory.swappable)} would be more than the GPU and the host hold"
        if more > 0 and not may_hope(roster, client, memory):
            return "neither it nor any other program could run any more"
        return None

    def _is_too_large(self, roster: Roster, client: Client, memory: Memory) -> bool:
        """Whether it could not run even alone: its own excess pushes the rest of it out."""
        if memory.swappable <= roster.usable - memory.pinned:
            return False
        # Other clients of the node may end. Other memory in its cgroup is not expected to.
        levels = [client.booked + level.left for level in self.room.levels_of(client)]
        if self.state.limit is not None:
            levels.append(self.state.limit)
        return memory.swappable > min(levels, default=memory.swappable)

    def _overflow(self, roster: Roster, client: Client, memory: Memory) -> str | None:
        overflow = roster.overflow_with(client, memory)
        if overflow <= roster.overflow:
            return None
        allowance = self.room.allowance()
        sizes = {one.id: one.memory.swappable for one in roster.clients.values()}
        sizes[client.id] = memory.swappable
        clients = roster.clients.values()
        # Not allowance.take(): that sets no bound while the host can hold what is there now.
        holds = sum(allowance.reserve(one, sizes[one.id]) for one in clients)
        if overflow <= holds:
            return None
        return f"{gib(overflow)} would have to leave for the host, which holds {gib(holds)}"

    def judge(self, device: str, client: int | None) -> list[Effect]:
        """Report once, when it begins, that the limit is exceeded."""
        limit, before = self.state.limit, self.state.exceeded
        self.state.exceeded = limit is not None and self.room.kept > limit
        if limit is None or before or not self.state.exceeded:
            return []
        text = (
            f"the host keeps {gib(self.room.kept)} of memory that has left the GPUs, and "
            f"host_memory allows {gib(limit)}; end programs, or raise host_memory"
        )
        return [Report(ReportKind.OVERCOMMITTED, device, client, text)]
