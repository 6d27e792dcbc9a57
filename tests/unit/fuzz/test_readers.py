"""The readers in Python take the whole kept corpus, and some changes to it."""

from pathlib import Path

import pytest

from tests.fuzz import python
from tests.fuzz.inputs import FOLDER, kept
from tests.fuzz.native import targets
from tests.fuzz.python import TooLongError, attempt, fuzz
from tests.fuzz.readers import READERS, Reader
from tests.fuzz.seeds import made


@pytest.mark.parametrize("name", READERS)
def test_takes_everything_that_is_kept(name: str) -> None:
    inputs = {**made(name), **kept(name)}
    assert inputs
    for data in inputs.values():
        attempt(READERS[name], data)


@pytest.mark.parametrize("name", READERS)
def test_takes_what_is_nearly_right(name: str) -> None:
    assert fuzz(name, 30) >= 15


def test_every_folder_of_the_corpus_has_a_reader() -> None:
    assert {path.name for path in FOLDER.iterdir()} <= {*READERS, *targets()}


def choke(data: bytes) -> None:
    if b"=" in data:
        raise ZeroDivisionError


class TestWhatGoesWrong:
    def test_is_written_down_as_small_as_it_can_be(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(python, "READERS", {"annotations": Reader(choke)})
        monkeypatch.setattr(python, "CRASHES", tmp_path)
        assert python.main("annotations", 60) == 1
        (path,) = (tmp_path / "annotations").iterdir()
        assert b"=" in path.read_bytes()
        assert f"ZeroDivisionError: {path}" in capsys.readouterr().out

    def test_what_is_refused_is_fine(self) -> None:
        attempt(Reader(choke, (ZeroDivisionError,)), b"=")
        with pytest.raises(ZeroDivisionError):
            attempt(Reader(choke), b"=")

    def test_may_be_the_time_that_it_takes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(python, "LONGEST", -1.0)
        with pytest.raises(TooLongError):
            attempt(Reader(len), b"")
