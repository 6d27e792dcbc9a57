"""Which cases are looked at, for so many clients and faults."""

from collections.abc import Iterator
from itertools import combinations_with_replacement

from .case import Case

# A GPU of two units, and programs that need one or both.
CAPACITY = 2
SIZES = (1, 2)


def sizes_of(clients: int) -> list[tuple[int, ...]]:
    """Return the sizes of so many programs that do not fit together, whoever has which."""
    every = combinations_with_replacement(SIZES, clients)
    return [sizes for sizes in every if sum(sizes) > CAPACITY]


def cases(clients: int, crashes: int, late: int, *, rests: bool) -> Iterator[Case]:
    """Return all cases: those without faults first, in which two programs can do more."""
    for sizes in sizes_of(clients):
        if clients <= 2:
            yield Case(sizes, 0, any_order=True)
        yield Case(sizes, 0, is_restless=clients > 2 and not rests)
    if crashes or late:
        for sizes in sizes_of(clients):
            yield Case(sizes, crashes, lates=late, is_restless=not rests)
