"""The journal of a node: events and their effects, kept in a ring, saved, replayed.

A saved journal is JSON lines: a header with the state at its beginning, then one line per event.
A header without a state means a node without devices, so a journal written by hand begins with
DeviceAdded. Replaying it needs nothing else.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

from nvshare.core import effects as effect_module
from nvshare.core import events as event_module
from nvshare.core.effects import Effect
from nvshare.core.events import Event
from nvshare.core.journal.codec import from_json, to_json
from nvshare.core.record.device import Snapshot

VERSION = 1
# How much of a client's past an error shows.
LINES_IN_ERRORS = 20

Base = TypeVar("Base")


@dataclass(frozen=True, slots=True)
class Entry:
    """One event and its effects."""

    event: Event
    effects: tuple[Effect, ...]


class Page:
    """A state, and the entries that follow it."""

    def __init__(self, start: Snapshot) -> None:
        self.start = start
        self.entries: list[Entry] = []


class Journal:
    """The last events: at least ``size`` of them, once there were so many."""

    def __init__(self, start: Snapshot, size: int) -> None:
        self._size = size
        self._pages = [Page(start)]

    @property
    def page_is_full(self) -> bool:
        """Whether it is time to turn the page."""
        return len(self._pages[-1].entries) >= self._size

    @property
    def entries(self) -> Iterator[Entry]:
        """All entries that are kept, the oldest first."""
        return chain.from_iterable(page.entries for page in self._pages)

    def record(self, event: Event, effects: Iterable[Effect]) -> None:
        """Add an entry."""
        self._pages[-1].entries.append(Entry(event, tuple(effects)))

    def turn_page(self, state: Snapshot) -> None:
        """Forget all but the last page, and begin a new one with the present state."""
        self._pages = [self._pages[-1], Page(state)]

    def about(self, client: int) -> list[str]:
        """Return the last entries about a client, as JSON lines.

        The search goes back to the client's joining and no further: misbehaving clients can come
        often, and all clients wait while the journal is searched.
        """
        lines: list[str] = []
        for entry in self._backwards():
            if _mentions(entry, client):
                lines.insert(0, write_entry(entry))
                if len(lines) == LINES_IN_ERRORS or _begins(entry.event, client):
                    break
        return lines

    def _backwards(self) -> Iterator[Entry]:
        return chain.from_iterable(reversed(page.entries) for page in reversed(self._pages))

    def lines(self) -> Iterator[str]:
        """Return the lines of the journal as it is saved."""
        header: dict[str, Any] = {"journal": VERSION}
        if self._pages[0].start != Snapshot():
            header["start"] = to_json(self._pages[0].start)
        yield json.dumps(header)
        yield from map(write_entry, self.entries)


def _mentions(entry: Entry, client: int) -> bool:
    return any(
        client == getattr(fact, name, None)
        for fact in (entry.event, *entry.effects)
        for name in ("client", "from_client", "to_client")
    )


def _begins(event: Event, client: int) -> bool:
    return isinstance(event, event_module.ClientJoined) and event.client == client


def write_entry(entry: Entry) -> str:
    """Return an entry as one line of JSON."""
    effects = [_tagged(effect) for effect in entry.effects]
    return json.dumps({"event": _tagged(entry.event), "effects": effects})


def read_entry(line: str) -> Entry:
    """Return the entry of a line."""
    data = json.loads(line)
    event = _untagged(EVENTS, data["event"])
    return Entry(event, tuple(_untagged(EFFECTS, effect) for effect in data["effects"]))


def read_header(line: str) -> Snapshot:
    """Return the state that a journal begins with."""
    header = json.loads(line)
    if not isinstance(header, dict) or header.get("journal") != VERSION:
        raise ValueError(f'not a journal of version {VERSION}: the first line has no "journal"')
    return from_json(Snapshot, header.get("start", {}))


def _registry(module: Any, base: type[Base]) -> dict[str, type[Base]]:
    """Return the classes of a module by name: all events, or all effects."""
    kinds = (kind for kind in vars(module).values() if isinstance(kind, type))
    return {kind.__name__: kind for kind in kinds if issubclass(kind, base)}


EVENTS = _registry(event_module, Event)
EFFECTS = _registry(effect_module, Effect)


def _tagged(fact: Event | Effect) -> dict[str, Any]:
    return {"type": type(fact).__name__, **to_json(fact)}


def _untagged(kinds: dict[str, type[Base]], data: dict[str, Any]) -> Base:
    content = dict(data)
    name = content.pop("type")
    if name not in kinds:
        raise ValueError(f"there is no event or effect {name}")
    return from_json(kinds[name], content)
