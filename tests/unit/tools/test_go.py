from pathlib import Path

import pytest

from tools.go import go, version


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Go that was installed before, and none in PATH."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    place = tmp_path / "nvshare" / "go-1.26.5"
    place.mkdir(parents=True)
    return place / "go" / "bin" / "go"


def put_go(folder: Path, answer: str) -> Path:
    program = folder / "go"
    program.write_text(f"#!/bin/sh\necho {answer}\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("answer", ["go1.24.0", "go1.30rc1", "go2.0"])
def test_the_go_of_this_machine_will_do(installed: Path, tmp_path: Path, answer: str) -> None:
    del installed
    own = put_go(tmp_path, answer)
    assert go() == own


def test_an_old_go_will_not_do(installed: Path, tmp_path: Path) -> None:
    put_go(tmp_path, "go1.19.8")
    assert go() == installed


def test_there_is_no_go(installed: Path) -> None:
    assert go() == installed


def test_something_else_that_is_called_go(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="did not print a version: a board game"):
        version(put_go(tmp_path, "a board game"))
