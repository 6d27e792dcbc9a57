"""Tells the events of kept journals to the present core, and shows what it orders differently."""

from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from nvshare.core.core import Core
from nvshare.core.journal.journal import Entry, read_entry, write_entry

# Differences that are shown in full, for each folder.
SHOWN = 5


def compare(folder: Path) -> int:
    """Replay all journals of a folder. Returns 1 if any history went another way."""
    paths = sorted(folder.glob("*.journals"))
    differences: list[str] = []
    histories = events = 0
    with ProcessPoolExecutor() as pool:
        for told, counted, found in pool.map(_replay_file, paths):
            histories, events = histories + told, events + counted
            differences += found
    print(
        f"{folder.name}: {histories} histories, {events} events, "
        f"{len(differences)} histories differ"
    )
    print(*differences[:SHOWN], sep="\n", end="\n" if differences else "")
    return 1 if differences else 0


def _replay_file(path: Path) -> tuple[int, int, list[str]]:
    histories, found, events = _histories(path), [], 0
    for number, lines in histories.items():
        events += len(lines)
        difference = _first_difference(lines)
        if difference:
            found.append(f"{path.name}, core {number}, {difference}")
    return len(histories), events, found


def _histories(path: Path) -> dict[str, list[str]]:
    """Return the lines of a file by the core that wrote them."""
    histories: dict[str, list[str]] = defaultdict(list)
    with path.open(encoding="utf-8") as file:
        for line in file:
            # The last line of a process that was killed may lack its end.
            if line.endswith("\n"):
                number, _, entry = line.partition("\t")
                histories[number].append(entry)
    return histories


def _first_difference(lines: list[str]) -> str | None:
    core = Core()
    for number, line in enumerate(lines, 1):
        told = read_entry(line)
        try:
            got = Entry(told.event, tuple(core.handle(told.event)))
        except Exception as error:  # noqa: BLE001 (whatever it is, it is the difference)
            return f"event {number}: {line}  now {error!r}"
        if got != told:
            return f"event {number}:\n  before {line}  now    {write_entry(got)}"
    return None
