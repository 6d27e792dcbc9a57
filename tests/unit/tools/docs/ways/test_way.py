"""The ways of ARCHITECTURE.md lead through files that exist, and captions belong to them."""

import pytest

from tools.docs.pages import ROOT
from tools.docs.ways.scenes import SCENES
from tools.docs.ways.way import FOLDER, Stretch, as_text, names, read

WAYS = {name: read(name) for name in names()}


def test_each_way_is_recorded_and_each_recording_a_way() -> None:
    assert sorted(SCENES) == names()


@pytest.mark.parametrize("name", WAYS)
def test_every_file_on_the_way_exists(name: str) -> None:
    assert [file for file in WAYS[name].files if not (ROOT / file).is_file()] == []


@pytest.mark.parametrize("name", WAYS)
def test_every_lane_has_files_and_every_file_a_lane(name: str) -> None:
    way = WAYS[name]
    assert {one.lane for one in way.stretches} == set(range(len(way.lanes)))


@pytest.mark.parametrize("name", WAYS)
def test_every_caption_belongs_to_one_file(name: str) -> None:
    way = WAYS[name]
    named = {end: [f for f in way.files if f"/{f}".endswith(f"/{end}")] for end in way.why}
    assert {end: files for end, files in named.items() if len(files) != 1} == {}


@pytest.mark.parametrize("name", WAYS)
def test_the_architecture_shows_it(name: str) -> None:
    assert f"docs/ways/{name}.svg" in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", WAYS)
def test_what_is_written_is_what_was_read(name: str) -> None:
    text = (FOLDER / f"{name}.calls").read_text(encoding="utf-8")
    assert as_text(WAYS[name].stretches) == text


def test_a_lane_that_goes_on_after_a_frame_is_another_stretch() -> None:
    stretches = (Stretch(0, ("a",)), Stretch(1, ("b", "c"), "TO"), Stretch(0, ("d",), "BACK"))
    assert as_text(stretches).splitlines()[1:] == ["0 a", "> TO", "1 b", "1 c", "> BACK", "0 d"]
