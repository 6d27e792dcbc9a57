"""A program with an interposer in it, as far as the core can tell. Faithful, not fast.

It reads its orders and sends its messages in order, but when it does is up to the world.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from nvshare.core.effects import (
    Answer,
    CancelHandover,
    Effect,
    Evict,
    Grant,
    Handover,
    Keep,
    Revoke,
    Trim,
    Urgency,
    Verdict,
)
from nvshare.core.events import (
    ClientEvent,
    ClientJoined,
    ClientLeft,
    MemoryChanged,
    Moved,
    Reason,
    Released,
    Used,
    Wanted,
)
from nvshare.core.memory import Kind, Memory

Wake = Callable[[int, int], None]


@dataclass
class Program:
    """One client. ``drain`` is how long it takes to give way when told to."""

    id: int
    kind: Kind
    memory: Memory
    drain: float
    wake: Wake
    busy: bool = False
    stopped: bool = False
    open: bool = False
    draining: bool = False
    waiting: bool = False
    seen: int = 0
    asked: Revoke | None = None
    handover: Handover | None = None
    evict_bytes: int = 0
    release_at: float | None = None
    # Seconds for which it held turns, and for which it claims to have been busy.
    held: float = 0.0
    used: float = 0.0
    # What it asked for last, until it is answered: the ticket, and the memory without it.
    ticket: int = 0
    without: Memory | None = None
    # What it has really moved to the host; and the most of that ever, for which there are pages.
    out: int = 0
    pages: int = 0
    inbox: deque[Effect] = field(default_factory=deque)
    outbox: deque[ClientEvent] = field(default_factory=deque)

    def register(self, device: str) -> None:
        """Connect, for the first time or to a new daemon. What the old one ordered is void."""
        self.inbox.clear()
        self.outbox.clear()
        self.handover = self.asked = None
        # It does not wait for the answer of a daemon that is gone: it allocates.
        self.without = None
        if self.open:
            self.release_at = None
        running = self.open or self.draining
        self._send(
            ClientJoined(
                now=0.0,
                client=self.id,
                device=device,
                memory=self.memory,
                kind=self.kind,
                running=running,
                turn=self.seen,
            )
        )
        if self.waiting:
            self._send(Wanted(now=0.0, client=self.id, turn=self.seen))

    def work(self) -> None:
        """Have something to run."""
        self.busy = True
        if self.open:
            self.release_at = None
        elif not self.waiting:
            self.waiting = True
            self._send(Wanted(now=0.0, client=self.id, turn=self.seen))

    def rest(self, now: float) -> None:
        """Have nothing to run."""
        self.busy = False
        self._release_if_idle(now)

    def allocate(self, memory: Memory) -> None:
        """Have this much memory from now on. Behind a closed gate it is nowhere yet."""
        memory = memory.as_kind(self.kind)
        if not self.open and not self.draining:
            gained = max(0, memory.swappable - self.memory.swappable)
            memory = replace(memory, swapped=memory.swapped + gained).as_kind(self.kind)
        self._have(memory)
        self._send(MemoryChanged(now=0.0, client=self.id, memory=self.memory))

    def use(self, seconds: float) -> None:
        """Claim to have been busy for so much longer."""
        self.used += seconds
        self._send(Used(now=0.0, client=self.id, busy_seconds=self.used))

    def ask(self, memory: Memory) -> None:
        """Want to have this much memory, which counts as had until the answer says otherwise."""
        self.without = self.memory
        self._have(memory.as_kind(self.kind))
        self.ticket += 1
        self._send(MemoryChanged(now=0.0, client=self.id, memory=self.memory, ticket=self.ticket))

    def die(self) -> None:
        """End. What was sent before still arrives."""
        self._send(ClientLeft(now=0.0, client=self.id))

    def read(self, now: float) -> None:
        """Carry out the oldest order."""
        order = self.inbox.popleft()
        match order:
            case Grant():
                self.let_in(order.turn, now)
            case Evict():
                self._move_out(0 if self.open else order.evict_bytes)
            case Trim():
                self._move_out(order.trim_bytes if self.open else 0)
            case Answer():
                self._take_answer(order)
            case Revoke(turn=turn) | Keep(turn=turn) if turn == self.seen and self.open:
                self._obey(order, now)
            case Handover(from_turn=turn) if turn == self.seen and (self.open or self.draining):
                self.handover = order
            case CancelHandover(from_turn=turn) if turn == self.seen:
                self.handover = None
            case _:
                pass

    def let_in(self, turn: int, now: float) -> None:
        """Open the gate, by a grant or because a predecessor says so."""
        if turn <= self.seen:
            return
        assert not self.open, "two turns at once"
        assert not self.draining, "a new turn before the old one was released"
        self.seen, self.open, self.waiting = turn, True, False
        self.asked = self.handover = self.release_at = None
        self._bring_in()
        self._release_if_idle(now)

    def release(self) -> None:
        """Give the turn up."""
        reason = Reason.ASKED if self.draining else Reason.IDLE
        # Work that came to the gate while it was closing was announced already.
        wants = self.busy and not self.waiting
        self.open = self.draining = False
        self.waiting = self.waiting or wants
        moved = self._move(self.evict_bytes)
        heir = self.handover
        if heir:
            self.wake(heir.to_client, heir.turn)
        self._send(
            Released(
                now=0.0,
                client=self.id,
                turn=self.seen,
                reason=reason,
                memory=self.memory,
                wants=wants,
                moved_bytes=moved,
                seconds=moved / 8,
                handed_to=heir.to_client if heir else None,
                handed_turn=heir.turn if heir else 0,
            )
        )
        self.asked = self.handover = self.release_at = None
        self.evict_bytes = 0

    def _obey(self, order: Effect, now: float) -> None:
        if isinstance(order, Keep):
            self.asked = self.handover = self.release_at = None
            self.evict_bytes = 0
            return
        assert isinstance(order, Revoke)
        self.evict_bytes = order.evict_bytes
        if order.urgency is Urgency.NOW:
            self.open, self.draining, self.asked = False, True, None
            self.release_at = now + self.drain
        else:
            self.asked = order
            self._release_if_idle(now)

    def _release_if_idle(self, now: float) -> None:
        if self.open and self.asked and not self.busy:
            self.release_at = now + self.asked.idle_seconds

    def _take_answer(self, answer: Answer) -> None:
        assert answer.ticket == self.ticket, "an answer to another question"
        assert self.without is not None, "answered twice"
        if answer.verdict is not Verdict.YES:
            kept, self.memory = self.memory, self.without
            # What has been moved out in the meantime stays so, as far as it exists.
            self.allocate(replace(self.memory, swapped=kept.swapped))
        elif not self.open and not self.draining:
            # The gate has closed before it could allocate.
            gained, memory = self.memory, self.without
            self.memory = replace(memory, swapped=min(memory.swappable, gained.swapped))
            self.allocate(replace(gained, swapped=self.memory.swapped))
        self.without = None

    def _have(self, memory: Memory) -> None:
        self.memory = memory
        self.out = min(self.out, memory.swappable)
        self.pages = min(self.pages, memory.swappable)

    def _move(self, most: int) -> int:
        """Move out what it has not moved yet, with as few new pages as possible."""
        moved = min(most, self.memory.resident)
        self.memory = replace(self.memory, swapped=self.memory.swapped + moved)
        self.out += moved
        self.pages = max(self.pages, self.out)
        return moved

    def _bring_in(self) -> None:
        """Have everything in, which may be more than fits."""
        came, self.memory, self.out = self.memory.swapped, replace(self.memory, swapped=0), 0
        if came:
            self._send(
                Moved(
                    now=0.0,
                    client=self.id,
                    turn=self.seen,
                    memory=self.memory,
                    in_bytes=came,
                    seconds=came / 8,
                )
            )

    def _move_out(self, most: int) -> None:
        moved = self._move(most)
        self._send(
            Moved(
                now=0.0,
                client=self.id,
                turn=self.seen,
                memory=self.memory,
                out_bytes=moved,
                seconds=moved / 8,
            )
        )

    def _send(self, event: ClientEvent) -> None:
        self.outbox.append(event)
