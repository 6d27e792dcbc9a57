import json
from pathlib import Path

import pytest

from nvshare.errors import BadInputError
from nvshare.probe.probes import PROBES
from nvshare.probe.readings import Readings
from nvshare.probe.report import TOPICS, Report, load_report, write_report
from tests.unit.probe.published import published


def report(readings: Readings) -> Report:
    return Report("0.1.0", "2026-03-05", False, 1.0, False, readings).judged()


def test_topics_are_the_probes() -> None:
    assert list(PROBES) == list(TOPICS)


def test_a_report_comes_back_as_it_was(tmp_path: Path) -> None:
    made = report(Readings(published().values, {"gate": "no daemon"}))
    file = tmp_path / "report.json"
    file.write_text(write_report(made))
    loaded = load_report(file)
    assert loaded.lines == made.lines
    assert loaded.readings.values == made.readings.values
    assert loaded.readings.absent == {"gate": "no daemon"}


def test_lines_are_in_the_file_with_what_hangs_on_them() -> None:
    content = json.loads(write_report(report(published(memory__out__cuda_free=2**60))))
    (line,) = [one for one in content["lines"] if one["name"] == "memory.free.out"]
    assert line["verdict"] == "BAD"
    assert "published driver" in line["source"]
    assert "room" in line["decision"]
    topics = [one["name"].partition(".")[0] for one in content["lines"]]
    assert list(dict.fromkeys(topics)) == list(TOPICS)


def test_bad_lines_are_counted() -> None:
    assert report(published()).bad == 0
    assert report(published(prefetch__wrong_words=3, capture__wrong_words=1)).bad == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not JSON"),
        ("[]", "format"),
        ('{"format": "other"}', "format"),
        ('{"format": "nvshare-doctor-gpu 1"}', "KeyError"),
    ],
)
def test_what_is_no_report(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "report.json"
    file.write_text(text)
    with pytest.raises(BadInputError) as caught:
        load_report(file)
    assert why in str(caught.value.why)


def test_a_reading_that_is_no_reading(tmp_path: Path) -> None:
    content = json.loads(write_report(report(published())))
    content["readings"]["bus.in"] = [1]
    file = tmp_path / "report.json"
    file.write_text(json.dumps(content))
    with pytest.raises(BadInputError, match="not a report"):
        load_report(file)


def test_no_file() -> None:
    with pytest.raises(BadInputError, match="cannot be read"):
        load_report(Path("/nowhere/report.json"))
