"""How long requests would wait on a GPU that served them in the order of their arrival.

`nvshare bench latency` compares with it: time is lost only to moves of memory, at the speed of the
bus. One request is served at a time. A program keeps its memory on the GPU until others need the
room; the least recently served program loses its memory first.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Request:
    """A program wants the GPU, for this many seconds."""

    time: float
    who: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Served:
    """How long a request waited until it computed, and how much of that was moving memory.

    ``back``: how long it took others before that to get their memory back after the last request.
    """

    wait: float
    move: float
    back: float


@dataclass(frozen=True, slots=True)
class Machine:
    """Room in bytes, part of which others take while there is no request; and bytes per second."""

    room: int
    taken: int
    bus: float


def serve(requests: Sequence[Request], sizes: Sequence[int], machine: Machine) -> list[Served]:
    """Serve requests, sorted by time. ``sizes``: the memory that each program needs."""
    here = dict.fromkeys(range(len(sizes)), 0)
    free_at = 0.0
    served = []
    for request in requests:
        back = 0
        if request.time > free_at:
            back = _make_room(here, machine.room - machine.taken)
        move = (sizes[request.who] - here[request.who]) / machine.bus
        begin = max(request.time, free_at) + move
        # The program served last is the last to lose its memory.
        del here[request.who]
        here[request.who] = sizes[request.who]
        _make_room(here, machine.room)
        served.append(Served(begin - request.time, move, back / machine.bus))
        free_at = begin + request.seconds
    return served


def _make_room(here: dict[int, int], room: int) -> int:
    """Evict memory until only this much is left, and return how much was evicted."""
    excess = left = max(0, sum(here.values()) - room)
    for who in here:
        gone = min(here[who], left)
        here[who] -= gone
        left -= gone
    return excess - left
