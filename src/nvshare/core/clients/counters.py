"""What a table of clients counts: sets, sums, loads and queues, each by a rule on one record.

A counter is an attribute of the class of the table, and its rule says what a client counts for. The
table itself has the result under the same name, as a plain attribute. So a table of counters reads
as what it is: names and rules.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from itertools import chain
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from nvshare.core.memory import Load
from nvshare.core.record.client import Client

Clients: TypeAlias = dict[int, Client]
Place: TypeAlias = tuple[bool, float, int, int]

_place = itemgetter(0)
T = TypeVar("T")


class Queue:
    """The waiting clients, in the order of their places: visitors before the others."""

    def __init__(self) -> None:
        self._visitors: list[tuple[Place, Client]] = []
        self._steady: list[tuple[Place, Client]] = []

    def __len__(self) -> int:
        return len(self._visitors) + len(self._steady)

    def __iter__(self) -> Iterator[Client]:
        return (client for _, client in chain(self._visitors, self._steady))

    def __reversed__(self) -> Iterator[Client]:
        return (client for _, client in chain(reversed(self._steady), reversed(self._visitors)))

    def steady(self) -> Iterator[Client]:
        """Return those that compute all the time."""
        return (client for _, client in self._steady)

    def add(self, place: Place, client: Client) -> None:
        """Put a client in its place."""
        insort(self._part(place), (place, client), key=_place)

    def remove(self, place: Place) -> None:
        """Take the client of this place out."""
        part = self._part(place)
        del part[bisect_left(part, place, key=_place)]

    def first(self) -> Client | None:
        """Return the client that is next."""
        return next(iter(self), None)

    def _part(self, place: Place) -> list[tuple[Place, Client]]:
        return self._steady if place[0] else self._visitors


class Count(Generic[T]):
    """A counter. ``rule`` returns what a client counts for; ``nothing`` is that of no client."""

    nothing: Any = None

    def __init__(self, rule: Callable[[Client], Any]) -> None:
        self.rule = rule
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, table: object, owner: type) -> T:
        # A table's own attribute comes before this.
        raise AttributeError(self.name)

    def empty(self) -> T:
        """Return the result without any client."""
        raise NotImplementedError

    def change(self, table: object, client: Client, before: Any, after: Any) -> None:
        """Count a client for something else than before."""
        raise NotImplementedError


class SetOf(Count[Clients]):
    """The clients of which the rule holds."""

    nothing = False

    def empty(self) -> Clients:
        """Return an empty set."""
        return {}

    def change(self, table: object, client: Client, before: Any, after: Any) -> None:
        """Put a client in, or take it out."""
        del before
        clients: Clients = getattr(table, self.name)
        if after:
            clients[client.id] = client
        else:
            del clients[client.id]


class OrderedSetOf(Count[Clients]):
    """The same, in the order in which clients came to their states.

    The rule returns a client's number in this order, or None.
    """

    def empty(self) -> Clients:
        """Return an empty set."""
        return {}

    def change(self, table: object, client: Client, before: Any, after: Any) -> None:
        """Put a client in as the last one, or take it out."""
        clients: Clients = getattr(table, self.name)
        if before is not None:
            del clients[client.id]
        if after is not None:
            clients[client.id] = client


class SumOf(Count[int]):
    """The sum of numbers."""

    nothing = 0

    def empty(self) -> int:
        """Return 0."""
        return 0

    def change(self, table: object, client: Client, before: Any, after: Any) -> None:
        """Add the difference."""
        del client
        setattr(table, self.name, getattr(table, self.name) + after - before)


class Bytes(NamedTuple):
    """The bytes of a client that count, each for the sum of its name."""

    pinned: int = 0
    swappable: int = 0
    # Swappable bytes of a parked client that are away.
    parked_away: int = 0
    # Bytes on the device, by state. The driver pages an overdue client out.
    running_bytes: int = 0
    yielding_bytes: int = 0
    closed_bytes: int = 0
    # Bytes that were ordered out and are still on the device, and bytes that count as swapped and
    # still are. No other sum has them.
    leaving_bytes: int = 0
    outbound_bytes: int = 0


class BytesOf(Count[Bytes]):
    """Sums of bytes, which have much in common. Each is an attribute of the table."""

    nothing = Bytes()

    def empty(self) -> Bytes:
        """Return no bytes."""
        return Bytes()

    def change(self, table: object, client: Client, before: Any, after: Any) -> None:
        """Add the differences."""
        del client
        for name, was, now in zip(Bytes._fields, before, after, strict=True):
            if was != now:
                setattr(table, name, getattr(table, name) + now - was)


class LoadOf(Count[Load]):
    """The total of weights, or None for a client that does not count."""

    def empty(self) -> Load:
        """Return no load."""
        return Load()

    def change(self, table: object, client: Client, before: Any, after: Any) -> None:
        """Replace a weight by another."""
        del client
        load: Load = getattr(table, self.name)
        if before is not None:
            load.add(before, -1)
        if after is not None:
            load.add(after)


class NumberOf(Count[Counter[T]]):
    """The numbers of clients of each kind, or None for a client that does not count."""

    def empty(self) -> Counter[T]:
        """Return no numbers."""
        return Counter()

    def change(self, table: object, client: Client, before: Any, after: Any) -> None:
        """Count a client for another kind. A kind without clients is not there."""
        del client
        numbers: Counter[Hashable] = getattr(table, self.name)
        if before is not None:
            numbers[before] -= 1
            if not numbers[before]:
                del numbers[before]
        if after is not None:
            numbers[after] += 1


class QueueOf(Count[Queue]):
    """The clients in the order of their places, or None for a client that does not wait."""

    def empty(self) -> Queue:
        """Return an empty queue."""
        return Queue()

    def change(self, table: object, client: Client, before: Any, after: Any) -> None:
        """Take a client from one place to another."""
        queue: Queue = getattr(table, self.name)
        if before is not None:
            queue.remove(before)
        if after is not None:
            queue.add(after, client)
