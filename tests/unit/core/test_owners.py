"""A field has one writer: a part of a client's record is changed by its own file only."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import nvshare.core
from nvshare.core.record.client import Client

CORE = Path(nvshare.core.__file__).parent
PARTS = {
    one.name: Path(*type(part).__module__.split(".")[2:]).with_suffix(".py").as_posix()
    for one in fields(Client)
    if is_dataclass(part := getattr(Client(0), one.name)) and type(part).__hash__ is None
}
OWN = {one.name for one in fields(Client)} - set(PARTS)


def assigned(path: Path) -> Iterator[ast.Attribute]:
    """Yield the attributes that a file assigns to."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node


def test_a_part_is_written_by_its_own_file() -> None:
    others = [
        f"{path.relative_to(CORE)}:{node.lineno} writes {node.value.attr}.{node.attr}"
        for path in CORE.rglob("*.py")
        for node in assigned(path)
        if isinstance(node.value, ast.Attribute) and node.value.attr in PARTS
    ]
    assert not others


def test_a_field_of_a_client_has_one_writer() -> None:
    writers = defaultdict(set)
    for path in CORE.rglob("*.py"):
        for node in assigned(path):
            # A client is never called ``self`` outside its own file.
            if isinstance(node.value, ast.Name) and node.value.id not in ("self", "state"):
                writers[node.attr].add(path.relative_to(CORE).as_posix())
    assert {name: found for name, found in writers.items() if name in OWN and len(found) > 1} == {}


def test_every_part_is_in_a_file_of_its_own() -> None:
    assert len(PARTS) == 12
    assert all((CORE / path).is_file() for path in PARTS.values()), PARTS
