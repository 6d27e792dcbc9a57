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


def cases(clients: int, crashes: int, late: int, *, rests: bool) -> Iterator[Case]:
    """Return all cases: first those without faults, in which two programs can do more."""
    for sizes in sizes_of(clients):
        if clients <= 2:
            yield Case(sizes, 0, any_order=True)
        yield Case(sizes, 0, is_restless=clients > 2 and not rests)
    if crashes or late:
        for sizes in sizes_of(clients):
            yield Case(sizes, crashes, lates=late, is_restless=not rests)
