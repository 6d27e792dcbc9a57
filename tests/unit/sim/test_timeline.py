import xml.etree.ElementTree as ET

from nvshare.sim import timeline
from nvshare.sim.record import Kind

from .making import GB, program, run

SVG = "{http://www.w3.org/2000/svg}"


def bars(text: str) -> list[tuple[str, float, float]]:
    """What is shown, from where to where."""
    root = ET.fromstring(text)  # noqa: S314
    return [
        (title.text.split(" ", 1)[0], float(rect.get("x", "0")), float(rect.get("width", "0")))
        for rect in root.iter(f"{SVG}rect")
        if (title := rect.find(f"{SVG}title")) is not None and title.text
    ]


def test_who_ran_and_who_waited() -> None:
    text = timeline.draw(run({**program(10 * GB, 4000, startup=2.0), "count": 2}))
    shown = {name for name, _, _ in bars(text)}
    assert shown == {"starting", "running", "waiting", "moving"}
    for _, x, width in bars(text):
        assert timeline.LABELS <= x <= x + width <= timeline.WIDTH


def test_names_are_escaped() -> None:
    text = timeline.draw(run({**program(0, 1), "name": "<a & b>"}))
    assert "&lt;a &amp; b&gt;" in text
    ET.fromstring(text)  # noqa: S314


def test_what_cannot_be_told_apart_is_one_bar() -> None:
    outcome = run(
        {**program(1 * GB, 3000), "count": 2}, settings={"mode": "serial", "turn_seconds": 0.02}
    )
    spans = sum(len(record.spans or ()) for record in outcome.records)
    text = timeline.draw(outcome)
    assert spans > 2000
    assert len(bars(text)) < 10
    assert {kind.value.split()[0] for kind in Kind} >= {name for name, _, _ in bars(text)}


def test_too_many_programs_are_counted() -> None:
    outcome = run({**program(0, 1), "count": timeline.MOST_ROWS + 3, "every": 1.0})
    assert "3 more programs are not shown" in timeline.draw(outcome)
