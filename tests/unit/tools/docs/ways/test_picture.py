"""A way as a picture."""

import xml.etree.ElementTree as ElementTree

from tools.docs.ways.picture import draw
from tools.docs.ways.way import Stretch, Way

SHORT = Way(
    "short",
    "From <one> to another",
    ("here", "there"),
    (
        Stretch(0, ("native/interposer/gate/a.c", "src/nvshare/daemon/b.py")),
        Stretch(1, ("protocol/c.py",), "FRAME"),
    ),
    {"gate/a.c": "begins & ends"},
)


def elements() -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(draw(SHORT)).iter())  # noqa: S314 (drawn by ourselves)


def test_it_has_every_lane_file_caption_and_frame() -> None:
    shown = [element.text for element in elements()]
    expected = ["From <one> to another: 3 files", "here", "there", "gate/a.c", "begins & ends"]
    expected += ["daemon/b.py", "protocol/c.py", "FRAME"]
    assert [one for one in expected if one not in shown] == []


def test_each_lane_has_a_column_and_each_stretch_a_box_below_the_last_one() -> None:
    first, second = [element for element in elements() if element.get("rx")]
    assert first.get("x") != second.get("x")
    bottom = int(first.get("y", "")) + int(first.get("height", ""))
    assert int(second.get("y", "")) > bottom


def test_files_stay_in_their_box() -> None:
    box = next(element for element in elements() if element.get("rx"))
    upper, height = int(box.get("y", "")), int(box.get("height", ""))
    (last,) = [element for element in elements() if element.text == "daemon/b.py"]
    assert upper < int(last.get("y", "")) < upper + height
