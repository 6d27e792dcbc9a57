import json
from pathlib import Path

import pytest

from tools.docs.frontier import X, Y, main, picture, points_of, read

SUMMARY = {
    "bench": "mixes",
    "set": "unseen",
    "settings": {},
    "mixes": 100,
    "others_loss": 0.3,
    "wait_p50_to_bound": 1.5,
    "wait_p95_to_bound": 1.2,
    "delay_p95_to_bound": None,
    "equal_part_least": 0.8,
    "equal_part_p5": 0.97,
    "beyond_floor_mean": 0.02,
}
MIX = {"bench": "mixes", "set": "unseen", "mix": "unseen-1", "equal_part": 1.0}
LINES = [MIX, SUMMARY, {**SUMMARY, "set": "design", "settings": {"move_budget": 0.25}}]


def written(lines: list[dict[str, object]]) -> str:
    """Return lines as they are in a file."""
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def test_summaries_are_points_and_mixes_are_not() -> None:
    one, other = points_of("new", LINES, "equal_part_p5", "wait_p95_to_bound")
    assert (one.x, one.y, one.label, one.series, one.hollow) == (0.97, 1.2, "new", "new", False)
    assert (other.label, other.hollow) == ("new, move_budget=0.25", True)


def test_without_a_name_the_settings_are_the_label() -> None:
    labels = [one.label for one in points_of("", LINES, "others_loss", "wait_p50_to_bound")]
    assert labels == ["defaults", "move_budget=0.25"]


def test_a_set_without_the_figure_is_left_out() -> None:
    assert list(points_of("", LINES, "others_loss", "delay_p95_to_bound")) == []


@pytest.mark.parametrize("x", X)
@pytest.mark.parametrize("y", [name for name in Y if name != "delay_p95_to_bound"])
def test_every_figure_can_be_drawn(x: str, y: str) -> None:
    text = picture([("new", written(LINES))], x, y)
    assert text.startswith("<svg")
    assert "hollow: " in text


def test_results_without_mixes_are_refused() -> None:
    with pytest.raises(SystemExit, match="no file has a summary"):
        picture([("", written([MIX]))], "others_loss", "wait_p50_to_bound")


def test_files_are_named_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results, out = tmp_path / "new.jsonl", tmp_path / "picture.svg"
    results.write_text(written(LINES))
    main([f"new={results}", "--out", str(out)])
    main([f"new={results}"])
    assert capsys.readouterr().out == out.read_text()
    assert read(results.read_text()) == LINES
