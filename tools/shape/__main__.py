"""How large the code is, as a table: what one has to keep in one's head, in numbers.

    python -m tools.shape

Modules and cycles of the core and the daemon, the records of the core and who assigns their fields,
where orders are made and concepts asked about, what can be chosen, and how many files a way passes.
Imports count wherever they are, also those that are there for types only.
"""

from collections.abc import Iterator
from pathlib import Path

from tools.shape.places import Concept, asks, builds, capped_loops
from tools.shape.records import Record, lineage, parts, records, writers
from tools.shape.sources import Package, border
from tools.shape.surface import options, settings, ways

ROOT = Path(__file__).parents[2]
CORE, DAEMON = "nvshare.core", "nvshare.daemon"
CLIENT = "Client"
# How many of the largest records are named.
LARGEST = 3

# Each with the attributes that tell it, and its homes.
CONCEPTS = (
    Concept("a gang", frozenset({"gang", "rides"}), (f"{CORE}.gangs.",)),
    Concept("undrained", frozenset({"undrained"}), (f"{CORE}.turns.undrained",)),
    Concept(
        "parked",
        frozenset({"park", "parked", "is_away", "is_barred", "barred"}),
        (f"{CORE}.turns.park", f"{CORE}.moves.park"),
    ),
    Concept("tight", frozenset({"is_tight"}), (f"{CORE}.host.", f"{CORE}.clients.host_room")),
    Concept("runs to its end", frozenset({"runs_to_end"}), (f"{CORE}.policies.",)),
)
# An effect, the argument with which it is made, and its name here.
EFFECTS = (
    ("Revoke", "Urgency.NOW", "Revoke NOW"),
    ("Revoke", "Urgency.WHEN_IDLE", "Revoke WHEN_IDLE"),
    ("Grant", "", "Grant"),
)

Row = tuple[str, str]


def main() -> None:
    """Print the table."""
    print("| measured | now |\n|---|---|")
    for what, now in rows():
        print(f"| {what} | {now} |")


def rows() -> Iterator[Row]:
    """Return what is measured, and the numbers."""
    core, daemon = (Package.read(ROOT / "src", name) for name in (CORE, DAEMON))
    inside = border((ROOT / ".importlinter").read_text(encoding="utf-8"), CORE)
    beyond = [name for name in core.flat if name not in inside]
    yield "core: lines", f"{core.lines:,}"
    yield "core: flat modules (of these not importable)", f"{len(core.flat)} ({len(beyond)})"
    yield "core: modules in the largest import cycle", str(len(core.largest_cycle))
    yield "daemon: lines", f"{daemon.lines:,}"
    yield "daemon: flat modules", str(len(daemon.flat))
    yield "daemon: modules in the largest import cycle", str(len(daemon.largest_cycle))
    yield from _records(core)
    yield from _places(core)
    yield "settings per GPU", str(settings())
    by_verb = options()
    yield "options of the daemon", str(by_verb["daemon"])
    yield "options of the command line", str(sum(by_verb.values()))
    for name, files in ways().items():
        yield f"files of the way `{name}`", str(files)


def _records(core: Package) -> Iterator[Row]:
    known = records(core)
    largest = sorted(known, key=lambda one: len(one.fields), reverse=True)[:LARGEST]
    yield "largest records: fields", ", ".join(f"{one.name} {len(one.fields)}" for one in largest)
    client = next(one for one in known if one.name == CLIENT and one.fields)
    owned = parts(client, known)
    sizes = ", ".join(f"{field} {len(part.fields)}" for field, part in owned.items())
    own = len(client.fields) - len(owned)
    yield f"{CLIENT}: own fields, and fields of its parts", f"{own}; {sizes or 'no parts'}"
    several = assigned_by_several(core, client, owned)
    yield f"{CLIENT} and parts: fields that several modules assign", str(len(several))
    methods, files, name = max(_methods(one, known) for one in known)
    yield "class with the most methods (in files, by inheritance)", f"{name} {methods} ({files})"


def _methods(record: Record, known: list[Record]) -> tuple[int, int, str]:
    """Return how many methods a class has, in how many files, and its name."""
    line = lineage(record, known)
    methods = frozenset().union(*(one.methods for one in line))
    return len(methods), len({one.module for one in line}), record.name


def assigned_by_several(core: Package, record: Record, owned: dict[str, Record]) -> list[str]:
    """Return the fields of a record and of its parts that more than one module assigns."""
    full_names = {one.full_name for one in (record, *owned.values())}
    return sorted(name for name, by in writers(core, full_names).items() if len(by) > 1)


def _places(core: Package) -> Iterator[Row]:
    for effect, mark, name in EFFECTS:
        yield f"places that make {name}", str(len(builds(core, effect, mark)))
    for concept in CONCEPTS:
        places = asks(core, concept)
        count = f"{len(places)} in {len(set(places))} modules"
        yield f'reads of "{concept.name}" away from home', count
    yield "loops with a cap", str(len(capped_loops(core)))


if __name__ == "__main__":
    main()
