"""Follows what the time of every client goes to, by what the core is told and what it orders.

It stands beside the core: whoever feeds the core tells this the same, with what followed from it.
client_time.py has the rule by which time is divided.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Protocol

from nvshare.core.client_time import ClientTime, Doing, Part, nanoseconds
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
from nvshare.core.time_track import Track
from nvshare.core.view import Glance

# Less than this comes by itself when it is used (native/interposer/moves/swap.c).
_LEAST_FILL = 2 << 20
# After these a client is at something else.
_CHANGES = (Grant, Revoke, Evict, Room)


class Recorder(Protocol):
    """Somebody who wants to know what happened when. Times are nanoseconds."""

    def came(self, client: int, now_ns: int) -> None:
        """A client is there."""

    def went(self, client: int, now_ns: int) -> None:
        """It is not any more."""

    def spent(self, client: int, part: Part, begin_ns: int, end_ns: int) -> None:
        """A client has spent time on something. Not in order: some is known later."""

    def looked(self, client: int, now_ns: int, glance: Glance) -> None:
        """A client may be at something else from now on."""

    def moved(self, client: int, now_ns: int, event: Moved) -> None:
        """A client has moved memory."""


class _Follower:
    """One client, and whether its present turn begins with memory that comes in."""

    def __init__(self, now_ns: int, is_open: bool) -> None:
        self.time = ClientTime(now_ns)
        self._holds = is_open
        self._fills = False

    def look(self, now_ns: int, glance: Glance) -> None:
        """See what the client is at now."""
        holds = glance.state in (State.RUNNING, State.YIELDING)
        if holds and not self._holds:
            self._fills = glance.on_host >= _LEAST_FILL
        self._holds = holds
        doing = self._held(glance) if holds else _without_turn(glance)
        if doing is not self.time.doing:
            self.time.become(now_ns, doing)

    def moved(self, now_ns: int, event: Moved, turn: int) -> None:
        """Take note of memory that has moved: all of it is in, or something has left."""
        if event.turn != turn or (event.out_bytes and not event.in_bytes):
            return
        if self.time.doing is not Doing.FILLS:
            self.time.has_filled(now_ns, nanoseconds(event.seconds))
        self._fills = False

    def _held(self, glance: Glance) -> Doing:
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
        # Of whom anything was heard since somebody asked.
        self._heard: set[int] = set()

    def take_heard(self) -> set[int]:
        """Return of whom anything was heard since this was last asked.

        The time of the others has gone on as it did, to one and the same part: that of a few
        hundred need not be looked at every second.
        """
        heard, self._heard = self._heard, set()
        return heard

    def record(self, now: float, recorder: Recorder | None) -> None:
        """Have all of it recorded from now on; or not any more."""
        self._recorder = recorder
        for client in self._followers:
            self._follow(nanoseconds(now), client)

    def tell_until(self, now: float) -> None:
        """Have the recorder told of everything until now."""
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
        """Take what the core was told, after it has said what is to be done."""
        if isinstance(event, ClientEvent):
            self._take(nanoseconds(event.now), event)
            if isinstance(event, UsageReported) and not effects:
                # That is most of what there is to hear, and nobody's state has changed.
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

    def report(self, now: float, client: int, busy_seconds: float, held_back: float) -> None:
        """Take a client's counters, from one who knows them without telling the core."""
        follower = self._followers.get(client)
        if follower is not None:
            self._heard.add(client)
            times = nanoseconds(busy_seconds), nanoseconds(held_back)
            follower.time.report(nanoseconds(now), *times)

    def spent(self, client: int, now: float) -> Mapping[Part, int]:
        """Return what the time of a client went to until now, in nanoseconds."""
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
