"""What those who ask for a GPU would wait if it served them in the order in which they come.

For `nvshare bench latency` to compare with: no time is lost but by moves of memory, which go at the
speed of the bus. One request is served at a time. Whoever has been served keeps its memory on the
GPU until others need the room, those who were served longest ago first.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Request:
    """Somebody wants the GPU, for so many seconds."""

    time: float
    who: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Served:
    """How long a request has waited until it computed, and how much of that memory was moving.

    ``back``: how long before that it took others to have their memory back after the last request.
    """

    wait: float
    move: float
    back: float


@dataclass(frozen=True, slots=True)
class Machine:
    """Room in bytes, of which others take some whenever nobody asks; and bytes per second."""

    room: int
    taken: int
    bus: float


def serve(requests: Sequence[Request], sizes: Sequence[int], machine: Machine) -> list[Served]:
    """Serve requests, which are in the order of their times. ``sizes``: what each of them needs."""
    here = dict.fromkeys(range(len(sizes)), 0)
    free_at = 0.0
    served = []
    for request in requests:
        back = 0
        if request.time > free_at:
            back = _make_room(here, machine.room - machine.taken)
        move = (sizes[request.who] - here[request.who]) / machine.bus
        begin = max(request.time, free_at) + move
        # The last one is the last to go.
        del here[request.who]
        here[request.who] = sizes[request.who]
        _make_room(here, machine.room)
        served.append(Served(begin - request.time, move, back / machine.bus))
        free_at = begin + request.seconds
    return served


def _make_room(here: dict[int, int], room: int) -> int:
    """Leave only so much, and return what had to go."""
    excess = left = max(0, sum(here.values()) - room)
    for who in here:
        gone = min(here[who], left)
        here[who] -= gone
        left -= gone
    return excess - left
