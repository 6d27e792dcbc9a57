"""The ways of ARCHITECTURE.md lead through files that exist."""

import xml.etree.ElementTree as ElementTree

import pytest

from tools.docs.pages import ROOT
from tools.docs.ways import Step, Way, draw, ways

WAYS = {way.name: way for way in ways()}
SHORT = Way(
    "short",
    "From <one> to another",
    ("here", "there"),
    (Step(0, "a.py", "begins"), Step(1, "b.c", "ends", arrow="FRAME")),
)


def elements(way: Way) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(draw(way)).iter())  # noqa: S314 (drawn by ourselves)


@pytest.mark.parametrize("name", WAYS)
def test_every_file_on_the_way_exists(name: str) -> None:
    assert [step.file for step in WAYS[name].steps if not (ROOT / step.file).is_file()] == []


@pytest.mark.parametrize("name", WAYS)
def test_every_lane_has_a_step_and_every_step_a_lane(name: str) -> None:
    way = WAYS[name]
    assert {step.lane for step in way.steps} == set(range(len(way.lanes)))


@pytest.mark.parametrize("name", WAYS)
def test_the_architecture_shows_it(name: str) -> None:
    assert f"docs/ways/{name}.svg" in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_the_picture_has_every_lane_file_and_frame() -> None:
    shown = [element.text for element in elements(SHORT)]
    expected = ["From <one> to another", "here", "there", "a.py", "begins", "b.c", "ends", "FRAME"]
    assert [one for one in expected if one not in shown] == []


def test_steps_of_another_lane_stand_in_another_column() -> None:
    boxes = [element for element in elements(SHORT) if element.get("rx")]
    assert boxes[0].get("x") != boxes[1].get("x")
