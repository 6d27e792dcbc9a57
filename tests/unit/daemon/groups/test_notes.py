from pathlib import Path

import pytest

from nvshare.daemon.groups.notes import ChosenLimits


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "limits.json"


def test_what_was_set_is_there_for_the_next_daemon(path: Path) -> None:
    first = ChosenLimits(path)
    first.set("run-0-aa", {"memory_limit": 5, "burst": True})
    first.set("run-0-bb", {"memory_limit": None})
    again = ChosenLimits(path)
    assert again.of("run-0-aa") == {"memory_limit": 5, "burst": True}
    assert again.of("run-0-bb") == {"memory_limit": None}
    assert again.of("run-0-cc") == {}


def test_nothing_to_remember_leaves_no_file(path: Path) -> None:
    chosen = ChosenLimits(path)
    chosen.set("a", {"memory_limit": 5})
    chosen.set("b", {"memory_limit": 6})
    chosen.keep({"b", "c"})
    assert ChosenLimits(path).of("a") == {}
    assert ChosenLimits(path).of("b") == {"memory_limit": 6}
    chosen.set("b", {})
    assert not path.exists()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 5}', '{"a": {"memory_limit": "lots"}}'])
def test_a_file_that_makes_no_sense_is_as_good_as_none(path: Path, text: str) -> None:
    path.write_text(text)
    assert ChosenLimits(path).of("a") == {}


def test_a_file_that_cannot_be_written_is_said_to(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    chosen = ChosenLimits(tmp_path / "missing" / "limits.json")
    chosen.set("a", {"memory_limit": 5})
    assert chosen.of("a") == {"memory_limit": 5}
    assert "cannot be stored, and are lost when the daemon ends" in caplog.text
    assert chosen.problem == "No such file or directory"


def test_what_could_not_be_stored_is_tried_again_when_it_is_set_again(path: Path) -> None:
    chosen = ChosenLimits(path)
    # The kernel's own version of a full disk.
    path.with_suffix(".new").symlink_to("/dev/full")
    chosen.set("a", {"memory_limit": 5})
    assert chosen.problem == "No space left on device"
    assert ChosenLimits(path).of("a") == {}
    assert list(path.parent.iterdir()) == []
    chosen.set("a", {"memory_limit": 5})
    assert chosen.problem == ""
    assert ChosenLimits(path).of("a") == {"memory_limit": 5}
