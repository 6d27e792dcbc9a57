"""The cases to search, for a number of clients and faults."""

from collections.abc import Iterator
from itertools import combinations_with_replacement

from .case import Case

# A GPU of two units, and programs that need one or both.
CAPACITY = 2
SIZES = (1, 2)


def sizes_of(clients: int) -> list[tuple[int, ...]]:
    """Return the sizes of programs that do not fit together, without regard to their order."""
    every = combinations_with_replacement(SIZES, clients)
    return [sizes for sizes in every if sum(sizes) > CAPACITY]


def gang_cases(gangs: str, crashes: int, late: int) -> Iterator[Case]:
    """Return the cases of gangs on two GPUs, of which every program needs all.

    The words of ``gangs`` are those of Case.gangs.
    """
    for word in gangs.split():
        sizes = (CAPACITY,) * len(word)
        if crashes or late:
            yield Case(sizes, 0, gangs=word, is_restless=True)
        yield Case(sizes, crashes, lates=late, gangs=word, is_restless=True)


def cases(clients: int, crashes: int, late: int, *, rests: bool) -> Iterator[Case]:
    """Return all cases: first those without faults, in which two programs can do more."""
    for sizes in sizes_of(clients):
        if clients <= 2:
            yield Case(sizes, 0, any_order=True)
        yield Case(sizes, 0, is_restless=clients > 2 and not rests)
    if crashes or late:
        for sizes in sizes_of(clients):
            yield Case(sizes, crashes, lates=late, is_restless=not rests)
