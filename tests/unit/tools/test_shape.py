"""The numbers of `python -m tools.shape`, on a package of a few lines."""

from pathlib import Path

import pytest

from tools.docs.ways.way import names
from tools.shape.__main__ import CONCEPTS, CORE, EFFECTS, ROOT, assigned_by_several
from tools.shape.places import Concept, asks, builds, capped_loops
from tools.shape.records import lineage, parts, records
from tools.shape.sources import Package, border
from tools.shape.surface import options, settings, ways

RECORD = """
from dataclasses import dataclass
from typing import ClassVar

@dataclass(frozen=True)
class Limits:
    memory: int = 0

@dataclass(slots=True)
class Turn:
    number: int = 0
    began: float = 0.0

@dataclass(slots=True)
class Client:
    LIMIT: ClassVar[int] = 3
    id: int
    turn: Turn
    limits: Limits
    parked: bool = False
    calm: bool = False

    @property
    def is_away(self) -> bool:
        return self.parked

    def calm_down(self) -> None:
        self.calm = True
"""
PARK = """
from house.record import Client

def park(clients: list[Client]) -> None:
    for client in clients:
        client.parked, other = True, client
        other.turn.number += 1
"""
END = """
from typing import TYPE_CHECKING
from house import record
from house.record import Client
from house.effects import Revoke, Urgency
if TYPE_CHECKING:
    from house.rooms.begin import begin

class Other(Client):
    since: float = 0.0

def end(client: "record.Client | None", other: Other) -> Revoke | None:
    other.since = 1.0
    if client is None or client.parked:
        return None
    client.parked = False
    client.turn.began = 2.0
    for _ in range(3):
        pass
    return Revoke(client.id, urgency=Urgency.NOW)
"""
BEGIN = """
from ..effects import Revoke, Urgency
from .end import end

def begin() -> Revoke:
    return Revoke(1, Urgency.LATER)
"""
EFFECTS_OF_HOUSE = """
from enum import Enum

class Urgency(Enum):
    NOW = 1
    LATER = 2

class Revoke:
    def __init__(self, client: int, urgency: Urgency) -> None:
        pass
"""


@pytest.fixture
def house(tmp_path: Path) -> Package:
    files = {
        "__init__": "",
        "record": RECORD,
        "park": PARK,
        "effects": EFFECTS_OF_HOUSE,
        "rooms/__init__": "",
        "rooms/end": END,
        "rooms/begin": BEGIN,
    }
    for name, text in files.items():
        path = tmp_path / "house" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Package.read(tmp_path, "house")


def test_lines_and_flat_modules(house: Package) -> None:
    assert house.lines == sum(
        len(text.splitlines()) for text in (RECORD, PARK, EFFECTS_OF_HOUSE, END, BEGIN)
    )
    assert house.flat == ["house.effects", "house.park", "house.record"]


def test_an_import_for_types_closes_a_cycle(house: Package) -> None:
    assert house.largest_cycle == ["house.rooms.begin", "house.rooms.end"]
    assert house.imports["house.rooms.end"] == {
        "house.record",
        "house.effects",
        "house.rooms.begin",
    }
    assert house.imports["house.rooms.begin"] == {"house.effects", "house.rooms.end"}


def test_fields_methods_and_owned_parts(house: Package) -> None:
    known = records(house)
    client = next(one for one in known if one.name == "Client")
    assert list(client.fields) == ["id", "turn", "limits", "parked", "calm"]
    assert client.methods == {"calm_down"}
    # What does not change is a value, and no part.
    assert {field: one.name for field, one in parts(client, known).items()} == {"turn": "Turn"}


def test_a_class_has_the_methods_of_its_bases(house: Package) -> None:
    known = records(house)
    other = next(one for one in known if one.name == "Other")
    assert [one.name for one in lineage(other, known)] == ["Other", "Client"]


@pytest.mark.slow
def test_fields_that_several_modules_assign(house: Package) -> None:
    known = records(house)
    client = next(one for one in known if one.name == "Client")
    several = assigned_by_several(house, client, parts(client, known))
    assert several == ["house.record.Client.parked"]


def test_places_that_make_an_effect(house: Package) -> None:
    assert [place.partition(":")[0] for place in builds(house, "Revoke")] == [
        "house.rooms.begin",
        "house.rooms.end",
    ]
    (place,) = builds(house, "Revoke", "Urgency.NOW")
    assert place.startswith("house.rooms.end:")


def test_a_concept_is_at_home_in_its_folder(house: Package) -> None:
    parked = Concept("parked", frozenset({"parked"}), ("house.park",))
    assert asks(house, parked) == ["house.rooms.end"]
    at_home = Concept("parked", frozenset({"parked"}), ("house.rooms.",))
    assert asks(house, at_home) == []


def test_loops_with_a_cap(house: Package) -> None:
    (place,) = capped_loops(house)
    assert place.startswith("house.rooms.end:")


def test_the_border_is_what_others_may_import() -> None:
    linter = (
        "    nvshare.** -> a.core.core\n    x -> a.core.journal.journal\n    y -> a.core.view\n"
    )
    assert border(linter, "a.core") == {"a.core.core", "a.core.view"}


def test_options_and_settings_are_counted() -> None:
    by_verb = options()
    assert 0 < by_verb["daemon"] < sum(by_verb.values())
    assert settings() > 0


def test_every_recorded_way_is_counted() -> None:
    assert set(ways()) == set(names())
    assert min(ways().values()) > 20


# A name that has changed would be counted as nothing, for ever.
@pytest.fixture(scope="module")
def core() -> Package:
    return Package.read(ROOT / "src", CORE)


@pytest.mark.parametrize("concept", CONCEPTS, ids=lambda concept: concept.name)
def test_every_concept_exists(core: Package, concept: Concept) -> None:
    for attribute in concept.attributes:
        assert asks(core, Concept("", frozenset({attribute}), ())), attribute


@pytest.mark.parametrize(("effect", "mark", "name"), EFFECTS)
def test_every_effect_is_made(core: Package, effect: str, mark: str, name: str) -> None:
    assert builds(core, effect, mark), name
