"""Decides which worlds are the same.

Numbers of turns and descriptors are made as small as possible; clients of equal size are in any
order.
"""

from hashlib import blake2b
from marshal import dumps
from typing import Any

from .messages import client_in, renumbered, turns_in
from .process import message_number
from .world import Place, World


def tidy(world: World) -> World:
    """Return the same world with the smallest numbers of turns and descriptors.

    Numbers of one client keep their order. Those of different clients are never compared, except
    that a new one is larger than all that the daemon knows.
    """
    turns: dict[int, set[int]] = {}
    descriptors: set[int] = set()
    _collect(world, turns, descriptors)
    ranks = {
        owner: {turn: rank for rank, turn in enumerate(sorted(known | {0}))}
        for owner, known in turns.items()
    }
    places = {number: rank for rank, number in enumerate(sorted(descriptors), 1)}
    last = max((len(known) - 1 for known in ranks.values()), default=0)
    is_tidy = all(turn == rank for known in ranks.values() for turn, rank in known.items())
    is_tidy = is_tidy and all(number == rank for number, rank in places.items())
    written = world.written
    if written:
        written &= frozenset().union(*(place.awaited for place in world.places))
    daemon = world.daemon
    if is_tidy and (daemon is None or daemon.last_turns == {last}):
        return world if written == world.written else world._replace(written=written)

    def turn(owner: int, number: int) -> int:
        return ranks[owner][number] if number else 0

    return world._replace(
        places=tuple(
            _renumber(place, place.id or -1 - index, turn, places)
            for index, place in enumerate(world.places)
        ),
        daemon=daemon and daemon.renumbered(turn, last),
        ghosts=tuple(
            (client, tuple(renumbered(one, client, turn, places.__getitem__) for one in events))
            for client, events in world.ghosts
        ),
        written=frozenset(places[number] for number in written),
    )


def _collect(world: World, turns: dict[int, set[int]], descriptors: set[int]) -> None:
    for index, place in enumerate(world.places):
        # A process without a connection has numbers all the same.
        own = place.id or -1 - index
        for owner, number in place.turns:
            turns.setdefault(owner or own, set()).add(number)
        descriptors |= place.descriptors
    for client, events in world.ghosts:
        for owner, number in (turn for one in events for turn in turns_in(one)):
            turns.setdefault(owner or client, set()).add(number)
    if world.daemon:
        for owner, number in world.daemon.turns:
            turns.setdefault(owner, set()).add(number)


def _renumber(place: Place, own: int, turn: Any, descriptors: dict[int, int]) -> Place:
    process = place.process
    if process is None:
        return place
    return place.but(
        process=process.renumbered(own, turn, descriptors),
        inbox=tuple(renumbered(one, own, turn, descriptors.__getitem__) for one in place.inbox),
        outbox=tuple(renumbered(one, own, turn, descriptors.__getitem__) for one in place.outbox),
    )


def key(world: World, marked: int | None = None) -> bytes:
    """Return a key that worlds share if they differ in names only. The marked place keeps its own.

    Places that look alike by themselves keep their order. So some equal worlds are told apart,
    which costs time and nothing else.
    """
    daemon = world.daemon
    known = daemon.numbers if daemon else {}
    shapes = []
    for index, place in enumerate(world.places):
        shapes.append((index == marked, place.shape, known.get(place.id, -1), index))
    ghosts = sorted(
        (known.get(client, -1), tuple(map(message_number, events)), number)
        for number, (client, events) in enumerate(world.ghosts)
    )
    shapes.sort()
    order = [world.places[index] for *_, index in shapes]
    names = {place.id: number for number, place in enumerate(order, 1) if place.id}
    for number, (*_, index) in enumerate(ghosts, len(order) + 1):
        names[world.ghosts[index][0]] = number
    named = [names.get(one, 0) for place in order for one in place.names]
    named += [
        names.get(client_in(one), 0) for *_, index in ghosts for one in world.ghosts[index][1]
    ]
    if daemon:
        named += [names.get(one, 0) for one in daemon.names]
    value = (
        [shape[:-1] for shape in shapes],
        [ghost[:2] for ghost in ghosts],
        named,
        daemon.number if daemon else -1,
        sorted(world.written),
        (world.faults, world.lates),
        world.is_spilled,
    )
    # The second version of the format writes equal values in equal ways.
    return blake2b(dumps(value, 2), digest_size=12).digest()
