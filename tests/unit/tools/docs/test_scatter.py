import re
from itertools import pairwise
from xml.etree import ElementTree

from tools.docs.scatter import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis, Point, draw

X, Y = Axis("part", 0.95, is_least=True), Axis("wait", 1.3)
POINTS = [
    Point(1.2, 6.0, "a <b>", "a"),
    Point(0.9, 1.2, "a fast", "a"),
    Point(1.19, 6.01, "a again", "a", hollow=True),
    Point(0.7, 0.9, "b", "b"),
]


def elements(text: str, kind: str) -> list[ElementTree.Element]:
    """Return the elements of a picture."""
    return list(ElementTree.fromstring(text).iter(f"{{http://www.w3.org/2000/svg}}{kind}"))  # noqa: S314


def circles(text: str) -> list[tuple[float, float]]:
    """Return where the points are."""
    return [(float(one.attrib["cx"]), float(one.attrib["cy"])) for one in elements(text, "circle")]


def test_every_point_is_on_the_picture_and_named() -> None:
    text = draw("title", POINTS, X, Y, "a note")
    assert len(circles(text)) == len(POINTS)
    assert all(LEFT <= x <= WIDTH - RIGHT for x, _ in circles(text))
    assert all(TOP <= y <= HEIGHT - BOTTOM for _, y in circles(text))
    words = {one.text for one in elements(text, "text")}
    assert {"title", "a note", "part", "wait", *(one.label for one in POINTS)} <= words


def test_more_is_to_the_right_and_longer_waits_are_above() -> None:
    slow, fast, _, least = circles(draw("title", POINTS, X, Y))
    assert slow[0] > fast[0] > least[0]
    assert slow[1] < fast[1] < least[1]


def test_equal_ratios_are_equally_far_apart() -> None:
    points = [Point(1.0, y, "", "a") for y in (1.0, 2.0, 4.0)]
    heights = [y for _, y in circles(draw("title", points, X, Y))]
    first, second = (above - below for above, below in pairwise(heights))
    assert abs(first - second) < 0.2


def test_labels_do_not_cover_each_other() -> None:
    points = [Point(1.0, 2.0, f"rule {number}", "a") for number in range(5)]
    text = draw("title", points, X, Y)
    places = [
        float(one.attrib["y"]) for one in elements(text, "text") if "rule" in (one.text or "")
    ]
    assert all(below - above >= 12 for above, below in pairwise(sorted(places)))


def test_the_good_corner_is_shaded_if_both_bars_are_known() -> None:
    assert "as it should be" in draw("title", POINTS, X, Y)
    assert "as it should be" in draw("title", POINTS, Axis("loss", 1.0), Y)
    assert "as it should be" not in draw("title", POINTS, Axis("loss"), Y)


def test_points_of_a_series_are_joined_and_hollow_ones_apart() -> None:
    text = draw("title", [*POINTS, Point(1.0, 2.0, "a hollow", "a", hollow=True)], X, Y)
    joined = re.findall(r'<path d="M[^V"]*L[^"]*" fill="none"', text)
    assert len(joined) == 2
    assert text.count("stroke-dasharray") == 1


def test_one_point_alone_has_a_scale() -> None:
    (place,) = circles(draw("title", [Point(0.5, 200.0, "far", "a")], Axis("x"), Axis("y")))
    assert place[1] > 0


def test_percent() -> None:
    text = draw("title", [Point(0.02, 2.0, "", "a")], Axis("loss", 0.03, is_percent=True), Y)
    assert "3 %" in {one.text for one in elements(text, "text")}
