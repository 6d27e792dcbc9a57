"""Streams events on request: ``GET /v1/trace?seconds=30``, as lines of JSON.

Events are recorded only while there is a listener, and cost nothing otherwise. A listener is sent
the new events twice a second. Nothing is kept beyond that: a listener that reads too slowly misses
items, and is told how many at the end.
"""

import asyncio
import time
from collections import deque
from dataclasses import replace

from aiohttp import web

import nvshare
from nvshare.daemon.node import Node
from nvshare.errors import BadInputError
from nvshare.telemetry.hiding import HIDDEN
from nvshare.telemetry.time.client_time import nanoseconds
from nvshare.telemetry.trace.items import Began, Ended, Gpu, Item, Program, write_item
from nvshare.telemetry.trace.recorder import Recorder
from nvshare.users import user_name

LONGEST = 3600.0
MOST_LISTENERS = 4
# About 10 MB, or some thousand changes of turns within a second.
MOST_ITEMS = 50_000
_PERIOD = 0.5


class _Listener:
    """A listener, and the user that it listens as."""

    def __init__(self, uid: int | None) -> None:
        # None: it may see everything.
        self._uid = uid
        self._items: deque[Item] = deque()
        self.dropped = 0

    def take(self, item: Item, owner: int | None = None) -> None:
        """Keep an item until it is sent."""
        if len(self._items) >= MOST_ITEMS and not isinstance(item, Ended):
            self.dropped += 1
            return
        if isinstance(item, Program) and self._uid not in (None, owner):
            item = replace(item, name=HIDDEN, user=HIDDEN, pid=0, pod="")
        self._items.append(item)

    def lines(self) -> bytes:
        """Return the unsent items. Without any, an empty line shows that the daemon is alive."""
        lines = "".join(map(write_item, self._items)) or "\n"
        self._items.clear()
        return lines.encode()


class Traces:
    """Records events of the node while there are listeners."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._listeners: list[_Listener] = []
        # Programs with their users, for listeners from whom those of others are hidden.
        self._programs: dict[int, tuple[Program, int]] = {}
        self._recorder: Recorder | None = None

    async def serve(self, request: web.Request, uid: int | None) -> web.StreamResponse:
        """Stream events to a listener for the requested time."""
        seconds = _seconds_of(request)
        listener = self._join(uid)
        try:
            response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
            response.force_close()
            await response.prepare(request)
            await self._tell(response, listener, seconds)
        finally:
            self._leave(listener)
        return response

    async def _tell(
        self, response: web.StreamResponse, listener: _Listener, seconds: float
    ) -> None:
        now = self._node.now()
        ends = now + seconds
        while now < ends:
            await response.write(listener.lines())
            await asyncio.sleep(min(_PERIOD, ends - now))
            now = self._tell_until_now()
        listener.take(Ended(nanoseconds(now), listener.dropped))
        await response.write(listener.lines())
        await response.write_eof()

    def _tell_until_now(self) -> float:
        now = self._node.now()
        if self._recorder is not None:
            self._recorder.tell_until(now)
        return now

    def _join(self, uid: int | None) -> _Listener:
        if len(self._listeners) >= MOST_LISTENERS:
            raise BadInputError(
                "too many traces are being recorded",
                why=f"the daemon records at most {MOST_LISTENERS} at a time",
                do="try again when one of them has ended",
            )
        now = self._node.now()
        listener = _Listener(uid)
        listener.take(Began(nanoseconds(now), time.time(), nvshare.__version__))
        for gpu in self._node.gpus.all():
            usable = self._node.core.view(gpu.uuid).usable
            listener.take(Gpu(gpu.uuid, gpu.index, gpu.name, usable))
        if self._recorder is None:
            self._listeners.append(listener)
            executor = self._node.executor
            self._recorder = Recorder(executor.core, executor.times, self._describe, self._take)
            self._recorder.begin(now)
        else:
            # Events up to now are for the other listeners only.
            self._recorder.tell_until(now)
            self._listeners.append(listener)
            for program, owner in self._programs.values():
                listener.take(program, owner)
            for level in self._recorder.levels(now):
                listener.take(level)
        return listener

    def _leave(self, listener: _Listener) -> None:
        self._listeners.remove(listener)
        if not self._listeners and self._recorder is not None:
            self._recorder.end(self._node.now())
            self._recorder = None
            self._programs.clear()

    def _describe(self, client: int) -> Program | None:
        found = self._node.clients.get(client)
        if found is None:
            return None
        who = found.identity
        program = Program(
            client,
            found.gpu.uuid,
            who.program,
            who.pid,
            user_name(who.uid),
            self._node.pods.name(who),
        )
        self._programs[client] = program, who.uid
        return program

    def _take(self, item: Item) -> None:
        owner = self._programs[item.id][1] if isinstance(item, Program) else None
        for listener in self._listeners:
            listener.take(item, owner)


def _seconds_of(request: web.Request) -> float:
    text = request.query.get("seconds", "30")
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= LONGEST:
        raise BadInputError(
            f"{text} s cannot be recorded", do=f"give more than 0, and at most {LONGEST:.0f}"
        )
    return seconds
