"""The states of a GPU over all its programs: the highest-ranked state of any of them."""

from collections import Counter
from collections.abc import Iterable

from nvshare.telemetry.trace.items import Spent

# A GPU that computes for one program while memory moves for another counts as computing.
RANKING = (
    "computing",
    "memory_in",
    "memory_out",
    "thrashing",
    "held_back",
    "waiting",
    "starting",
    "idle",
)


def summed_up(everything: Iterable[Spent]) -> list[Spent]:
    """Return one row for all programs of a GPU."""
    changes = sorted(
        change
        for one in everything
        for change in ((one.begin, 1, one.state), (one.end, -1, one.state))
    )
    present: Counter[str] = Counter()
    row: list[Spent] = []
    since = changes[0][0] if changes else 0
    for at, sign, state in changes:
        if at > since:
            _add(row, present, since, at)
            since = at
        present[state] += sign
    return row


def _add(row: list[Spent], present: Counter[str], begin: int, end: int) -> None:
    state = next((state for state in RANKING if present[state]), None)
    if state is None:
        return
    if row and row[-1].end == begin and row[-1].state == state:
        begin = row.pop().begin
    row.append(Spent(0, state, begin, end))
