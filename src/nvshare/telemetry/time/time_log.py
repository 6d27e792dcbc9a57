"""Divides the time of every client, by the core's events and effects.

It stands beside the core: the shell gives it the same events, with their effects. client_time.py
has the rule by which time is divided.
"""

from collections.abc import Mapping, Sequence, Set
from functools import partial
from typing import Protocol

from nvshare.core.core import Core
from nvshare.core.effects import Effect, Evict, Grant, Revoke, Room
from nvshare.core.events import (
    ClientEvent,
    ClientJoined,
    ClientLeft,
    Event,
    Moved,
    UsageReported,
    Used,
)
from nvshare.core.lease import State
from nvshare.core.view import Glance
from nvshare.telemetry.time.client_time import ClientTime, Doing, Part, nanoseconds
from nvshare.telemetry.time.time_track import Track

# A smaller fill comes by itself when it is used (native/interposer/moves/swap.c).
_LEAST_FILL = 2 << 20
# These effects change what a client does.
_CHANGES = (Grant, Revoke, Evict, Room)


class Recorder(Protocol):
    """Receives what each client did when. Times are nanoseconds."""

    def came(self, client: int, now_ns: int) -> None:
        """Note that a client has come."""

    def went(self, client: int, now_ns: int) -> None:
        """Note that a client has left."""

    def spent(self, client: int, part: Part, begin_ns: int, end_ns: int) -> None:
        """Note a part of a client's time. Parts do not come in order: some are known later."""

    def looked(self, client: int, now_ns: int, glance: Glance) -> None:
        """Note what a client does from now on, which may have changed."""

    def moved(self, client: int, now_ns: int, event: Moved) -> None:
        """Note that a client has moved memory."""


class _Follower:
    """The time of one client, and whether its present turn begins with a fill."""

    def __init__(self, now_ns: int, is_open: bool) -> None:
        self.time = ClientTime(now_ns)
        self._holds = is_open
        self._fills = False
        self.thrashes = False

    def look(self, now_ns: int, glance: Glance) -> None:
        """Note what the client does now."""
        holds = glance.state in (State.RUNNING, State.YIELDING)
        if holds and not self._holds:
            self._fills = glance.on_host >= _LEAST_FILL
        self._holds = holds
        doing = self._held(glance) if holds else _without_turn(glance)
        if doing is not self.time.doing:
            self.time.become(now_ns, doing)

    def moved(self, now_ns: int, event: Moved, turn: int) -> None:
        """Note a move: all memory is in, or some has left."""
        if event.turn != turn or (event.out_bytes and not event.in_bytes):
            return
        if self.time.doing is not Doing.FILLS:
            self.time.has_filled(now_ns, nanoseconds(event.seconds))
        self._fills = False

    def _held(self, glance: Glance) -> Doing:
        if self.thrashes:
            return Doing.THRASHES
        return Doing.FILLS if self._fills or glance.lacks_room else Doing.OPEN


def _without_turn(glance: Glance) -> Doing:
    if glance.is_leaving:
        return Doing.LEAVES
    return Doing.WAITS if glance.state is State.WAITING else Doing.CLOSED


class TimeLog:
    """The time of all clients of a core."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._followers: dict[int, _Follower] = {}
        self._recorder: Recorder | None = None
        # The clients that were heard of since the last take_heard().
        self._heard: set[int] = set()

    def take_heard(self) -> set[int]:
        """Return the clients that were heard of since the last call.

        The time of all others goes on in the same part, so that hundreds of clients need not be
        looked at every second.
        """
        heard, self._heard = self._heard, set()
        return heard

    def record(self, now: float, recorder: Recorder | None) -> None:
        """Record all time from now on. None: stop recording."""
        self._recorder = recorder
        for client in self._followers:
            self._follow(nanoseconds(now), client)

    def tell_until(self, now: float) -> None:
        """Tell the recorder all time until now."""
        for client in self._followers:
            self.spent(client, now)

    def _follow(self, now_ns: int, client: int) -> None:
        follower, recorder = self._followers[client], self._recorder
        if recorder is None:
            follower.time.follow(now_ns, None)
            return
        follower.time.follow(now_ns, Track(partial(recorder.spent, client)))
        recorder.came(client, now_ns)
        if (glance := self._core.glance(client)) is not None:
            recorder.looked(client, now_ns, glance)

    def hear(self, event: Event, effects: Sequence[Effect]) -> None:
        """Take an event of the core, with its effects."""
        if isinstance(event, ClientEvent):
            self._take(nanoseconds(event.now), event)
            if isinstance(event, UsageReported) and not effects:
                # Most events are such reports, and they have changed no client's state.
                return
        self._look(event, effects)

    def _look(self, event: Event, effects: Sequence[Effect]) -> None:
        now_ns = nanoseconds(event.now)
        concerned = {effect.client for effect in effects if isinstance(effect, _CHANGES)}
        if isinstance(event, ClientEvent):
            concerned.add(event.client)
        concerned.update(self._core.companions())
        self._heard |= concerned
        for client in concerned:
            follower, glance = self._followers.get(client), self._core.glance(client)
            if follower is not None and glance is not None:
                follower.look(now_ns, glance)
                if self._recorder is not None:
                    self._recorder.looked(client, now_ns, glance)

    def note_thrashing(self, now: float, clients: Set[int]) -> None:
        """Note which clients thrash from now on. The shell sees that, and the core does not."""
        for client, follower in self._followers.items():
            if follower.thrashes == (client in clients):
                continue
            follower.thrashes = client in clients
            self._heard.add(client)
            if (glance := self._core.glance(client)) is not None:
                follower.look(nanoseconds(now), glance)

    def report(self, now: float, client: int, busy_seconds: float, held_back: float) -> None:
        """Take a client's counters, from a caller that does not tell the core."""
        follower = self._followers.get(client)
        if follower is not None:
            self._heard.add(client)
            times = nanoseconds(busy_seconds), nanoseconds(held_back)
            follower.time.report(nanoseconds(now), *times)

    def spent(self, client: int, now: float) -> Mapping[Part, int]:
        """Return the time of a client until now by part, in nanoseconds."""
        follower = self._followers.get(client)
        return follower.time.spent(nanoseconds(now)) if follower else dict.fromkeys(Part, 0)

    def _take(self, now_ns: int, event: ClientEvent) -> None:
        match event:
            case ClientJoined():
                self._join(now_ns, event)
            case ClientLeft():
                self._leave(now_ns, event.client)
            case UsageReported() | Used():
                self.report(event.now, event.client, event.busy_seconds, event.throttled_seconds)
            case Moved():
                follower, glance = (
                    self._followers.get(event.client),
                    self._core.glance(event.client),
                )
                if follower is not None and glance is not None:
                    follower.moved(now_ns, event, glance.turn)
                    if self._recorder is not None:
                        self._recorder.moved(event.client, now_ns, event)

    def _join(self, now_ns: int, event: ClientJoined) -> None:
        if event.client not in self._followers:
            self._followers[event.client] = _Follower(now_ns, event.running)
            if self._recorder is not None:
                self._follow(now_ns, event.client)

    def _leave(self, now_ns: int, client: int) -> None:
        follower = self._followers.pop(client, None)
        if follower is not None and self._recorder is not None:
            follower.time.spent(now_ns)
            self._recorder.went(client, now_ns)
